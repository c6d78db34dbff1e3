//go:build amd64 && !purego

#include "textflag.h"

// One tile: 8 columns of a times 16 of b, over all rows. VPMULDQ multiplies the low
// halves of quadwords: 16 entries of b are used unshifted for the even columns and
// shifted by 32 bits for the odd ones. An entry of a is broadcast to all.

// func tileAVX512(sums *[128]int64, a, b *int32, rows int)
//
// Z0–Z15 hold the sums: even and odd columns for each entry of a.
TEXT ·tileAVX512(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ rows+24(FP), AX

#define CLEAR(A, B, C, D) \
	VPXORD A, A, A; \
	VPXORD B, B, B; \
	VPXORD C, C, C; \
	VPXORD D, D, D

	CLEAR(Z0, Z1, Z2, Z3)
	CLEAR(Z4, Z5, Z6, Z7)
	CLEAR(Z8, Z9, Z10, Z11)
	CLEAR(Z12, Z13, Z14, Z15)

#define TIMES(OFF, EVEN, ODD, X, T, U) \
	VPBROADCASTD OFF(SI), X; \
	VPMULDQ Z16, X, T; \
	VPMULDQ Z17, X, U; \
	VPADDQ T, EVEN, EVEN; \
	VPADDQ U, ODD, ODD

row:
	VMOVDQU32 (BX), Z16
	VPSRLQ $32, Z16, Z17
	TIMES(0, Z0, Z1, Z18, Z19, Z20)
	TIMES(4, Z2, Z3, Z21, Z22, Z23)
	TIMES(8, Z4, Z5, Z24, Z25, Z26)
	TIMES(12, Z6, Z7, Z27, Z28, Z29)
	TIMES(16, Z8, Z9, Z18, Z19, Z20)
	TIMES(20, Z10, Z11, Z21, Z22, Z23)
	TIMES(24, Z12, Z13, Z24, Z25, Z26)
	TIMES(28, Z14, Z15, Z27, Z28, Z29)
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ AX
	JNZ  row

#define ADD(OFF, EVEN, ODD) \
	VPADDQ OFF(DI), EVEN, EVEN; \
	VPADDQ (OFF+64)(DI), ODD, ODD; \
	VMOVDQU64 EVEN, OFF(DI); \
	VMOVDQU64 ODD, (OFF+64)(DI)

	ADD(0, Z0, Z1)
	ADD(128, Z2, Z3)
	ADD(256, Z4, Z5)
	ADD(384, Z6, Z7)
	ADD(512, Z8, Z9)
	ADD(640, Z10, Z11)
	ADD(768, Z12, Z13)
	ADD(896, Z14, Z15)
	VZEROUPPER
	RET

// func tileAVX2(sums *[128]int64, a, b *int32, rows int)
//
// Four passes: 4 entries of a times 8 columns of b. Y0–Y7 hold the sums.
TEXT ·tileAVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	XORQ R9, R9                  // the pass: bit 0 the columns, bit 1 the entries of a

pass:
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), BX
	MOVQ rows+24(FP), AX
	MOVQ R9, R10
	ANDQ $1, R10
	SHLQ $5, R10                 // 8 columns of 4 bytes, and 4 sums of 8
	ADDQ R10, BX
	MOVQ R9, R11
	SHRQ $1, R11
	SHLQ $4, R11                 // 4 entries of 4 bytes
	ADDQ R11, SI
	SHLQ $5, R11                 // 4 rows of 128 bytes
	LEAQ (DI)(R10*1), DX
	ADDQ R11, DX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

#define TIMES2(OFF, EVEN, ODD, X, T) \
	VPBROADCASTD OFF(SI), X; \
	VPMULDQ Y8, X, T; \
	VPMULDQ Y9, X, X; \
	VPADDQ T, EVEN, EVEN; \
	VPADDQ X, ODD, ODD

row2:
	VMOVDQU (BX), Y8
	VPSRLQ $32, Y8, Y9
	TIMES2(0, Y0, Y1, Y10, Y11)
	TIMES2(4, Y2, Y3, Y12, Y13)
	TIMES2(8, Y4, Y5, Y14, Y15)
	TIMES2(12, Y6, Y7, Y10, Y11)
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ AX
	JNZ  row2

#define ADD2(OFF, EVEN, ODD) \
	VPADDQ OFF(DX), EVEN, EVEN; \
	VPADDQ (OFF+64)(DX), ODD, ODD; \
	VMOVDQU EVEN, OFF(DX); \
	VMOVDQU ODD, (OFF+64)(DX)

	ADD2(0, Y0, Y1)
	ADD2(128, Y2, Y3)
	ADD2(256, Y4, Y5)
	ADD2(384, Y6, Y7)
	INCQ R9
	CMPQ R9, $4
	JLT  pass
	VZEROUPPER
	RET
