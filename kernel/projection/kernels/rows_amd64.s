//go:build amd64 && !purego

#include "textflag.h"

// Prefetch distance of rows, in places.
#define AHEAD 12

// Order of dwords that undoes the interleaving of 128-bit lanes in narrow.
DATA lanes<>+0(SB)/8, $0x0000000400000000
DATA lanes<>+8(SB)/8, $0x0000000500000001
DATA lanes<>+16(SB)/8, $0x0000000600000002
DATA lanes<>+24(SB)/8, $0x0000000700000003
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// func narrowAVX2(dst *int16, src *int64, n int) bool
//
// n is a positive multiple of 16. Low dwords are taken from pairs of registers,
// packed to words, and put in order. An entry fits if entry + 2^15 is below 2^16;
// Y6 collects the bits of these sums.
TEXT ·narrowAVX2(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	VMOVDQU lanes<>(SB), Y7
	VPXOR Y6, Y6, Y6
	MOVL $0x8000, AX
	VMOVQ AX, X8
	VPBROADCASTQ X8, Y8

narrow16:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	VPADDQ Y8, Y0, Y9
	VPADDQ Y8, Y1, Y10
	VPADDQ Y8, Y2, Y11
	VPADDQ Y8, Y3, Y12
	VPOR Y10, Y9, Y9
	VPOR Y12, Y11, Y11
	VPOR Y9, Y6, Y6
	VPOR Y11, Y6, Y6
	VSHUFPS $0x88, Y1, Y0, Y0
	VSHUFPS $0x88, Y3, Y2, Y2
	VPACKSSDW Y2, Y0, Y0
	VPERMD Y0, Y7, Y0
	VMOVDQU Y0, (DI)
	ADDQ $128, SI
	ADDQ $32, DI
	SUBQ $16, CX
	JNZ  narrow16
	VPSRLQ $16, Y6, Y6
	VPTEST Y6, Y6
	SETEQ ret+24(FP)
	VZEROUPPER
	RET

// func withinAVX2(x *int64, n int, bound int64) bool
//
// n is a positive multiple of 16. Y0–Y3 collect whether entries are above bound or
// below −bound.
TEXT ·withinAVX2(SB), NOSPLIT, $0-25
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTQ bound+16(FP), Y14
	VPXOR Y15, Y15, Y15
	VPSUBQ Y14, Y15, Y15
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3

#define OUTSIDE(OFF, X, T, A) \
	VMOVDQU OFF(SI), X; \
	VPCMPGTQ Y14, X, T; \
	VPCMPGTQ X, Y15, X; \
	VPOR T, A, A; \
	VPOR X, A, A

within16:
	OUTSIDE(0, Y4, Y5, Y0)
	OUTSIDE(32, Y6, Y7, Y1)
	OUTSIDE(64, Y8, Y9, Y2)
	OUTSIDE(96, Y10, Y11, Y3)
	ADDQ $128, SI
	SUBQ $16, CX
	JNZ  within16
	VPOR Y1, Y0, Y0
	VPOR Y3, Y2, Y2
	VPOR Y2, Y0, Y0
	VPTEST Y0, Y0
	SETEQ ret+24(FP)
	VZEROUPPER
	RET

// func addRowsAVX2(u, x *int64, n, records int, places *uint32, each int, ending *int64, more int)
//
// AVX-512 would be slower: rows of u are not aligned to cache lines, so each store of
// 64 bytes would touch two.
//
// R8 holds the bytes of a row of u, R9 the entries of whole cache lines of a row of x,
// R10 all its entries, R11 the remaining places, R12 those of the record. DI is the row
// of u of the current place, AX that of a later place. AX is prefetched meanwhile, as u
// is rarely in a near cache. The sign is a mask m of zeros or ones: (v xor m) − m is v
// or −v.
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-64
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), R10
	MOVQ R10, R9
	ANDQ $~7, R9
	MOVQ more+56(FP), R8
	ADDQ R10, R8
	SHLQ $3, R8
	MOVQ records+24(FP), R11
	IMULQ each+40(FP), R11
	MOVQ places+32(FP), BX

record2:
	MOVQ each+40(FP), R12

place2:
	MOVL (BX), AX
	MOVL AX, DX
	SHRL $1, AX
	ANDL $1, DX
	NEGQ DX
	VMOVQ DX, X2
	VPBROADCASTQ X2, Y2
	IMULQ R8, AX
	MOVQ u+0(FP), DI
	ADDQ AX, DI
	MOVQ DI, AX
	CMPQ R11, $AHEAD
	JLE  near2
	MOVL (4*AHEAD)(BX), AX
	SHRL $1, AX
	IMULQ R8, AX
	ADDQ u+0(FP), AX

near2:
	ADDQ $4, BX
	XORL R13, R13
	CMPQ R9, $0
	JEQ  rest2

#define ADD4(OFF, Y) \
	VPXOR OFF(SI)(R13*8), Y2, Y; \
	VPSUBQ Y2, Y, Y; \
	VPADDQ OFF(DI)(R13*8), Y, Y; \
	VMOVDQU Y, OFF(DI)(R13*8)

line2:
	PREFETCHT0 (AX)(R13*8)
	ADD4(0, Y0)
	ADD4(32, Y1)
	ADDQ $8, R13
	CMPQ R13, R9
	JLT  line2

rest2:
	PREFETCHT0 -8(AX)(R8*1)
	TESTQ $4, R10
	JEQ  tail2
	ADD4(0, Y0)
	ADDQ $4, R13

tail2:
	CMPQ R13, R10
	JGE  ending2
	MOVQ (SI)(R13*8), AX
	XORQ DX, AX
	SUBQ DX, AX
	ADDQ AX, (DI)(R13*8)
	INCQ R13
	JMP  tail2

ending2:
	MOVQ more+56(FP), CX
	CMPQ CX, $0
	JEQ  next2
	MOVQ ending+48(FP), R14
	LEAQ (DI)(R10*8), DI

more2:
	MOVQ (R14), AX
	XORQ DX, AX
	SUBQ DX, AX
	ADDQ AX, (DI)
	ADDQ $8, R14
	ADDQ $8, DI
	DECQ CX
	JNZ  more2

next2:
	DECQ R11
	DECQ R12
	JNZ  place2
	LEAQ (SI)(R10*8), SI
	CMPQ R11, $0
	JNE  record2
	VZEROUPPER
	RET

// Masks of the first 4, 3, 2, 1 entries of four: from 0, 8, 16, 24 bytes on.
DATA heads<>+0(SB)/8, $-1
DATA heads<>+8(SB)/8, $-1
DATA heads<>+16(SB)/8, $-1
DATA heads<>+24(SB)/8, $-1
DATA heads<>+32(SB)/8, $0
DATA heads<>+40(SB)/8, $0
DATA heads<>+48(SB)/8, $0
GLOBL heads<>(SB), RODATA|NOPTR, $56

// func squaredNormsAVX2(norms *uint64, x *int64, n, records int) bool
//
// n and records are positive. Y3 is 2^26, and Y2 collects the bits of entries plus 2^26,
// which are below 2^27 if they fit. Squares of low dwords are then those of entries. A row
// is R8 times four entries in Y0, then the last one to four with the mask Y4 (others 0).
TEXT ·squaredNormsAVX2(SB), NOSPLIT, $0-33
	MOVQ norms+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), R10
	MOVQ records+24(FP), R11
	LEAQ -1(R10), R8
	SHRQ $2, R8
	MOVQ R8, R9
	SHLQ $2, R9
	SUBQ R10, R9 // minus the entries of the last four
	LEAQ heads<>+32(SB), AX
	VMOVDQU (AX)(R9*8), Y4
	NEGQ R9
	MOVQ $0x4000000, AX
	VMOVQ AX, X3
	VPBROADCASTQ X3, Y3
	VPXOR Y2, Y2, Y2

#define SQUARE4(Y, S) \
	VPADDQ Y3, Y, Y6; \
	VPOR Y6, Y2, Y2; \
	VPMULDQ Y, Y, Y; \
	VPADDQ Y, S, S

row2:
	VPXOR Y0, Y0, Y0
	MOVQ R8, CX
	CMPQ CX, $0
	JEQ  last4

whole4:
	VMOVDQU (SI), Y5
	SQUARE4(Y5, Y0)
	ADDQ $32, SI
	DECQ CX
	JNZ  whole4

last4:
	VPMASKMOVQ (SI), Y4, Y5
	SQUARE4(Y5, Y0)
	LEAQ (SI)(R9*8), SI
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSRLDQ $8, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, (DI)
	ADDQ $8, DI
	DECQ R11
	JNZ  row2
	VPSRLQ $27, Y2, Y2
	VPTEST Y2, Y2
	SETEQ ret+32(FP)
	VZEROUPPER
	RET
