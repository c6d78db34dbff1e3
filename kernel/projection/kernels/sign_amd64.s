//go:build amd64 && !purego

#include "textflag.h"

// One tile of SignProduct: 4 rows of x times a panel of 64 columns of signs.
// A dword of x is a pair of int16 entries; a dword of signs is two bits for each of
// 16 columns. The signs become int16 words of ±1, so that one multiply-add of
// pairs (PMADDWD, or PDPWSSD with accumulation) handles two entries of 16 or 8 columns.

// func signTileAVX512(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)
//
// Z0–Z15 hold the sums, four registers of 16 columns for each row. Z16–Z19 hold
// the signs of one pair, Z20–Z23 the same pair of each row of x.
TEXT ·signTileAVX512(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ yStride+8(FP), DX
	SHLQ $3, DX                  // bytes
	MOVQ x+16(FP), SI
	MOVQ xStride+24(FP), CX
	ADDQ CX, CX                  // bytes
	LEAQ (SI)(CX*2), R8
	ADDQ CX, R8                  // the fourth row
	MOVQ signs+32(FP), BX
	MOVQ pairs+40(FP), AX

	VPTERNLOGD $0xff, Z30, Z30, Z30 // words of −1
	VPABSW Z30, Z31                 // words of +1

#define ZERO(A, B, C, D) \
	VPXORD A, A, A; \
	VPXORD B, B, B; \
	VPXORD C, C, C; \
	VPXORD D, D, D

	ZERO(Z0, Z1, Z2, Z3)
	ZERO(Z4, Z5, Z6, Z7)
	ZERO(Z8, Z9, Z10, Z11)
	ZERO(Z12, Z13, Z14, Z15)

#define ROW(X, A, B, C, D) \
	VPDPWSSD Z16, X, A; \
	VPDPWSSD Z17, X, B; \
	VPDPWSSD Z18, X, C; \
	VPDPWSSD Z19, X, D

pair:
	KMOVD 0(BX), K1
	KMOVD 4(BX), K2
	KMOVD 8(BX), K3
	KMOVD 12(BX), K4
	VPBROADCASTD (SI), Z20
	VPBROADCASTD (SI)(CX*1), Z21
	VPBROADCASTD (SI)(CX*2), Z22
	VPBROADCASTD (R8), Z23
	VPBLENDMW Z30, Z31, K1, Z16
	VPBLENDMW Z30, Z31, K2, Z17
	VPBLENDMW Z30, Z31, K3, Z18
	VPBLENDMW Z30, Z31, K4, Z19
	ROW(Z20, Z0, Z1, Z2, Z3)
	ROW(Z21, Z4, Z5, Z6, Z7)
	ROW(Z22, Z8, Z9, Z10, Z11)
	ROW(Z23, Z12, Z13, Z14, Z15)
	ADDQ $16, BX
	ADDQ $4, SI
	ADDQ $4, R8
	DECQ AX
	JNZ  pair

// Widen 16 sums and add them to y.
#define ADD16(OFF, Z, Y) \
	VPMOVSXDQ Y, Z24; \
	VEXTRACTI64X4 $1, Z, Y25; \
	VPMOVSXDQ Y25, Z25; \
	VPADDQ OFF(DI), Z24, Z24; \
	VPADDQ (OFF+64)(DI), Z25, Z25; \
	VMOVDQU64 Z24, OFF(DI); \
	VMOVDQU64 Z25, (OFF+64)(DI)

	ADD16(0, Z0, Y0)
	ADD16(128, Z1, Y1)
	ADD16(256, Z2, Y2)
	ADD16(384, Z3, Y3)
	ADDQ DX, DI
	ADD16(0, Z4, Y4)
	ADD16(128, Z5, Y5)
	ADD16(256, Z6, Y6)
	ADD16(384, Z7, Y7)
	ADDQ DX, DI
	ADD16(0, Z8, Y8)
	ADD16(128, Z9, Y9)
	ADD16(256, Z10, Y10)
	ADD16(384, Z11, Y11)
	ADDQ DX, DI
	ADD16(0, Z12, Y12)
	ADD16(128, Z13, Y13)
	ADD16(256, Z14, Y14)
	ADD16(384, Z15, Y15)
	VZEROUPPER
	RET

// Word i of 16 has bit i set.
DATA bitOfWord<>+0(SB)/8, $0x0008000400020001
DATA bitOfWord<>+8(SB)/8, $0x0080004000200010
DATA bitOfWord<>+16(SB)/8, $0x0800040002000100
DATA bitOfWord<>+24(SB)/8, $0x8000400020001000
GLOBL bitOfWord<>(SB), RODATA|NOPTR, $32

// func signTileAVX2(y *int64, yStride int, x *int16, xStride int, signs *uint64, pairs int)
//
// Four passes of 16 columns. Y0–Y7 hold the sums, two registers of 8 columns for
// each row. Y12 and Y13 hold the signs of one pair: a word of 16 bits is broadcast and
// compared with its own bits; the results −1 or 0 become −1 or +1.
TEXT ·signTileAVX2(SB), NOSPLIT, $0-48
	MOVQ yStride+8(FP), DX
	SHLQ $3, DX
	MOVQ xStride+24(FP), CX
	ADDQ CX, CX
	VMOVDQU bitOfWord<>(SB), Y14
	VPCMPEQW Y15, Y15, Y15
	VPABSW Y15, Y15              // words of +1
	XORQ R9, R9                  // the pass

pass:
	MOVQ y+0(FP), DI
	MOVQ R9, R10
	SHLQ $7, R10
	ADDQ R10, DI                 // 16 sums further per pass
	MOVQ x+16(FP), SI
	LEAQ (SI)(CX*2), R8
	ADDQ CX, R8
	MOVQ signs+32(FP), BX
	LEAQ (BX)(R9*4), BX
	MOVQ pairs+40(FP), AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

#define ROW2(X, A, B, T, U) \
	VPBROADCASTD X, T; \
	VPMADDWD Y13, T, U; \
	VPMADDWD Y12, T, T; \
	VPADDD T, A, A; \
	VPADDD U, B, B

pair2:
	VPBROADCASTW (BX), Y12
	VPBROADCASTW 2(BX), Y13
	VPAND Y14, Y12, Y12
	VPAND Y14, Y13, Y13
	VPCMPEQW Y14, Y12, Y12
	VPCMPEQW Y14, Y13, Y13
	VPOR Y15, Y12, Y12
	VPOR Y15, Y13, Y13
	ROW2((SI), Y0, Y1, Y8, Y9)
	ROW2((SI)(CX*1), Y2, Y3, Y10, Y11)
	ROW2((SI)(CX*2), Y4, Y5, Y8, Y9)
	ROW2((R8), Y6, Y7, Y10, Y11)
	ADDQ $16, BX
	ADDQ $4, SI
	ADDQ $4, R8
	DECQ AX
	JNZ  pair2

// Widen 8 sums and add them to y.
#define ADD8(OFF, Y, X) \
	VPMOVSXDQ X, Y8; \
	VEXTRACTI128 $1, Y, X9; \
	VPMOVSXDQ X9, Y9; \
	VPADDQ OFF(DI), Y8, Y8; \
	VPADDQ (OFF+32)(DI), Y9, Y9; \
	VMOVDQU Y8, OFF(DI); \
	VMOVDQU Y9, (OFF+32)(DI)

	ADD8(0, Y0, X0)
	ADD8(64, Y1, X1)
	ADDQ DX, DI
	ADD8(0, Y2, X2)
	ADD8(64, Y3, X3)
	ADDQ DX, DI
	ADD8(0, Y4, X4)
	ADD8(64, Y5, X5)
	ADDQ DX, DI
	ADD8(0, Y6, X6)
	ADD8(64, Y7, X7)
	INCQ R9
	CMPQ R9, $4
	JLT  pass
	VZEROUPPER
	RET
