//go:build amd64 && !purego

#include "textflag.h"

// A tile of scores: 8 rows times a panel of 32 lanes, coordinate by coordinate. A
// product is rounded before it is added, as in Go.

// func scoresAVX512(to, rows, panel *float32, n int)
//
// Z0–Z15 hold the scores, two registers of 16 lanes for each row. Z16 and Z17 hold
// the panel's coordinate, Z18 and up that of a row, and the products.
TEXT ·scoresAVX512(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ panel+16(FP), BX
	MOVQ n+24(FP), CX

#define ZERO4(A, B, C, D) \
	VPXORD A, A, A; \
	VPXORD B, B, B; \
	VPXORD C, C, C; \
	VPXORD D, D, D

	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	ZERO4(Z8, Z9, Z10, Z11)
	ZERO4(Z12, Z13, Z14, Z15)

#define ROW(OFF, X, T, A, B) \
	VBROADCASTSS OFF(SI), X; \
	VMULPS Z16, X, T; \
	VMULPS Z17, X, X; \
	VADDPS T, A, A; \
	VADDPS X, B, B

coordinate:
	VMOVUPS (BX), Z16
	VMOVUPS 64(BX), Z17
	ROW(0, Z18, Z19, Z0, Z1)
	ROW(4, Z20, Z21, Z2, Z3)
	ROW(8, Z22, Z23, Z4, Z5)
	ROW(12, Z24, Z25, Z6, Z7)
	ROW(16, Z26, Z27, Z8, Z9)
	ROW(20, Z28, Z29, Z10, Z11)
	ROW(24, Z30, Z31, Z12, Z13)
	ROW(28, Z18, Z19, Z14, Z15)
	ADDQ $32, SI
	ADDQ $128, BX
	DECQ CX
	JNZ  coordinate

	VMOVUPS Z0, 0(DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	VMOVUPS Z8, 512(DI)
	VMOVUPS Z9, 576(DI)
	VMOVUPS Z10, 640(DI)
	VMOVUPS Z11, 704(DI)
	VMOVUPS Z12, 768(DI)
	VMOVUPS Z13, 832(DI)
	VMOVUPS Z14, 896(DI)
	VMOVUPS Z15, 960(DI)
	VZEROUPPER
	RET

// func scoresAVX2(to, rows, panel *float32, n int)
//
// Four passes, of 4 rows and 16 lanes each. Y0–Y7 hold the scores, two registers of
// 8 lanes for each row. R9 is the first of the rows, R10 of the lanes, in bytes.
TEXT ·scoresAVX2(SB), NOSPLIT, $0-32
	XORQ R9, R9

half2:
	XORQ R10, R10

pass2:
	MOVQ to+0(FP), DI
	MOVQ R9, AX
	SHLQ $5, AX                  // a row of a tile is 32 lanes
	ADDQ AX, DI
	ADDQ R10, DI
	MOVQ rows+8(FP), SI
	ADDQ R9, SI
	MOVQ panel+16(FP), BX
	ADDQ R10, BX
	MOVQ n+24(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

#define ROW2(OFF, X, T, A, B) \
	VBROADCASTSS OFF(SI), X; \
	VMULPS Y8, X, T; \
	VMULPS Y9, X, X; \
	VADDPS T, A, A; \
	VADDPS X, B, B

coordinate2:
	VMOVUPS (BX), Y8
	VMOVUPS 32(BX), Y9
	ROW2(0, Y10, Y11, Y0, Y1)
	ROW2(4, Y12, Y13, Y2, Y3)
	ROW2(8, Y14, Y15, Y4, Y5)
	ROW2(12, Y10, Y11, Y6, Y7)
	ADDQ $32, SI
	ADDQ $128, BX
	DECQ CX
	JNZ  coordinate2

	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 128(DI)
	VMOVUPS Y3, 160(DI)
	VMOVUPS Y4, 256(DI)
	VMOVUPS Y5, 288(DI)
	VMOVUPS Y6, 384(DI)
	VMOVUPS Y7, 416(DI)
	ADDQ $64, R10
	CMPQ R10, $128
	JLT  pass2
	ADDQ $16, R9
	CMPQ R9, $32
	JLT  half2
	VZEROUPPER
	RET

// func belowAVX2(masks *uint32, scores, limits *float32) bool
//
// DX collects the masks of all rows.
TEXT ·belowAVX2(SB), NOSPLIT, $0-25
	MOVQ masks+0(FP), DI
	MOVQ scores+8(FP), SI
	MOVQ limits+16(FP), BX
	MOVQ $8, CX
	XORL DX, DX

row:
	VBROADCASTSS (BX), Y0
	VMOVUPS 0(SI), Y1
	VMOVUPS 32(SI), Y2
	VMOVUPS 64(SI), Y3
	VMOVUPS 96(SI), Y4
	VCMPPS $2, Y0, Y1, Y1        // score ≤ limit
	VCMPPS $2, Y0, Y2, Y2
	VCMPPS $2, Y0, Y3, Y3
	VCMPPS $2, Y0, Y4, Y4
	VMOVMSKPS Y1, AX
	VMOVMSKPS Y2, R8
	VMOVMSKPS Y3, R9
	VMOVMSKPS Y4, R10
	SHLL $8, R8
	SHLL $16, R9
	SHLL $24, R10
	ORL  R8, AX
	ORL  R10, R9
	ORL  R9, AX
	MOVL AX, (DI)
	ORL  AX, DX
	ADDQ $4, DI
	ADDQ $4, BX
	ADDQ $128, SI
	DECQ CX
	JNZ  row
	TESTL DX, DX
	SETNE ret+24(FP)
	VZEROUPPER
	RET

// func leastAVX2(to *Leaders, scores *float32, first int32)
//
// Eight lanes at a time. Y0 is the smallest score, Y1 the second smallest, Y2 the row of
// the smallest, Y3 the current row. For each score, Y1 becomes min(Y1, max(score, Y0)).
TEXT ·leastAVX2(SB), NOSPLIT, $0-20
	MOVQ to+0(FP), DI
	MOVQ scores+8(FP), SI
	VPCMPEQD Y15, Y15, Y15
	VPABSD Y15, Y15              // ones
	MOVQ $4, CX

lanes:
	MOVL first+16(FP), AX
	VMOVD AX, X3
	VPBROADCASTD X3, Y3
	VMOVUPS (DI), Y0
	VMOVUPS 128(DI), Y1
	VMOVDQU 256(DI), Y2

#define SCORE(OFF) \
	VMOVUPS OFF(SI), Y4; \
	VMAXPS Y0, Y4, Y5; \
	VCMPPS $1, Y0, Y4, Y6; \
	VMINPS Y5, Y1, Y1; \
	VMINPS Y0, Y4, Y0; \
	VBLENDVPS Y6, Y3, Y2, Y2; \
	VPADDD Y15, Y3, Y3

	SCORE(0)
	SCORE(128)
	SCORE(256)
	SCORE(384)
	SCORE(512)
	SCORE(640)
	SCORE(768)
	SCORE(896)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 128(DI)
	VMOVDQU Y2, 256(DI)
	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  lanes
	VZEROUPPER
	RET
