//go:build amd64 && !purego

#include "textflag.h"

// BLAKE2b-512 (RFC 7693) of sixteen messages of one block each. Words are ordered by
// index, then by message: word i of message j is at 128·i + 8·j.

// The initialisation vector. Word 0 of the state includes the parameter block: digest
// of 64 bytes, no key, fanout and depth 1.
DATA iv<>+0(SB)/8, $0x6a09e667f3bcc908
DATA iv<>+8(SB)/8, $0xbb67ae8584caa73b
DATA iv<>+16(SB)/8, $0x3c6ef372fe94f82b
DATA iv<>+24(SB)/8, $0xa54ff53a5f1d36f1
DATA iv<>+32(SB)/8, $0x510e527fade682d1
DATA iv<>+40(SB)/8, $0x9b05688c2b3e6c1f
DATA iv<>+48(SB)/8, $0x1f83d9abfb41bd6b
DATA iv<>+56(SB)/8, $0x5be0cd19137e2179
DATA iv<>+64(SB)/8, $0x6a09e667f2bdc948
GLOBL iv<>(SB), RODATA|NOPTR, $72

// ROUNDS runs the twelve rounds, each with the indices of the message words in the
// order of its permutation.
#define ROUNDS(ROUND) \
	ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); \
	ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3); \
	ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4); \
	ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8); \
	ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13); \
	ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9); \
	ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11); \
	ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10); \
	ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5); \
	ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0); \
	ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); \
	ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3)

// func hashAVX512(state *[8][16]uint64, message *[16][16]uint64, lengths *[16]uint64)
//
// Z0–Z15 are the working vector of messages 0 to 7, Z16–Z31 that of the others. Both are
// interleaved, since the instructions of one depend on each other.
TEXT ·hashAVX512(SB), NOSPLIT, $0-24
	MOVQ state+0(FP), DI
	MOVQ message+8(FP), SI
	MOVQ lengths+16(FP), DX

#define START(OFF, A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P) \
	VPBROADCASTQ iv<>+64(SB), A; \
	VPBROADCASTQ iv<>+8(SB), B; \
	VPBROADCASTQ iv<>+16(SB), C; \
	VPBROADCASTQ iv<>+24(SB), D; \
	VPBROADCASTQ iv<>+32(SB), E; \
	VPBROADCASTQ iv<>+40(SB), F; \
	VPBROADCASTQ iv<>+48(SB), G; \
	VPBROADCASTQ iv<>+56(SB), H; \
	VPBROADCASTQ iv<>+0(SB), I; \
	VMOVDQA64 B, J; \
	VMOVDQA64 C, K; \
	VMOVDQA64 D, L; \
	VPXORQ OFF(DX), E, M; \ // the length
	VMOVDQA64 F, N; \
	VPTERNLOGQ $0x55, G, G, O; \ // inverted: this block is the last
	VMOVDQA64 H, P

	START(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	START(64, Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)

#define QUARTER(ADD, A, B, C, D, E, F, G, H, TURND, TURNB) \
	VPADDQ (128*ADD)(SI), A, A; \
	VPADDQ (128*ADD+64)(SI), E, E; \
	VPADDQ B, A, A; \
	VPADDQ F, E, E; \
	VPXORQ A, D, D; \
	VPXORQ E, H, H; \
	VPRORQ TURND, D, D; \
	VPRORQ TURND, H, H; \
	VPADDQ D, C, C; \
	VPADDQ H, G, G; \
	VPXORQ C, B, B; \
	VPXORQ G, F, F; \
	VPRORQ TURNB, B, B; \
	VPRORQ TURNB, F, F

#define MIX(A, B, C, D, E, F, G, H, X, Y) \
	QUARTER(X, A, B, C, D, E, F, G, H, $32, $24); \
	QUARTER(Y, A, B, C, D, E, F, G, H, $16, $63)

#define ROUND16(A, B, C, D, E, F, H, I, J, K, L, M, N, O, P, Q) \
	MIX(Z0, Z4, Z8, Z12, Z16, Z20, Z24, Z28, A, B); \
	MIX(Z1, Z5, Z9, Z13, Z17, Z21, Z25, Z29, C, D); \
	MIX(Z2, Z6, Z10, Z14, Z18, Z22, Z26, Z30, E, F); \
	MIX(Z3, Z7, Z11, Z15, Z19, Z23, Z27, Z31, H, I); \
	MIX(Z0, Z5, Z10, Z15, Z16, Z21, Z26, Z31, J, K); \
	MIX(Z1, Z6, Z11, Z12, Z17, Z22, Z27, Z28, L, M); \
	MIX(Z2, Z7, Z8, Z13, Z18, Z23, Z24, Z29, N, O); \
	MIX(Z3, Z4, Z9, Z14, Z19, Z20, Z25, Z30, P, Q)

	ROUNDS(ROUND16)

#define OUT(I, IV, A, B, C, D) \
	VPXORQ B, A, A; \
	VPXORQ D, C, C; \
	VPBROADCASTQ iv<>+IV(SB), B; \
	VPXORQ B, A, A; \
	VPXORQ B, C, C; \
	VMOVDQU64 A, (128*I)(DI); \
	VMOVDQU64 C, (128*I+64)(DI)

	OUT(0, 64, Z0, Z8, Z16, Z24)
	OUT(1, 8, Z1, Z9, Z17, Z25)
	OUT(2, 16, Z2, Z10, Z18, Z26)
	OUT(3, 24, Z3, Z11, Z19, Z27)
	OUT(4, 32, Z4, Z12, Z20, Z28)
	OUT(5, 40, Z5, Z13, Z21, Z29)
	OUT(6, 48, Z6, Z14, Z22, Z30)
	OUT(7, 56, Z7, Z15, Z23, Z31)
	VZEROUPPER
	RET

// Byte shuffles that rotate a word right by 24 and 16 bits.
DATA turn24<>+0(SB)/8, $0x0201000706050403
DATA turn24<>+8(SB)/8, $0x0a09080f0e0d0c0b
DATA turn24<>+16(SB)/8, $0x0201000706050403
DATA turn24<>+24(SB)/8, $0x0a09080f0e0d0c0b
GLOBL turn24<>(SB), RODATA|NOPTR, $32
DATA turn16<>+0(SB)/8, $0x0100070605040302
DATA turn16<>+8(SB)/8, $0x09080f0e0d0c0b0a
DATA turn16<>+16(SB)/8, $0x0100070605040302
DATA turn16<>+24(SB)/8, $0x09080f0e0d0c0b0a
GLOBL turn16<>(SB), RODATA|NOPTR, $32

// func hashAVX2(state *[8][16]uint64, message *[16][16]uint64, lengths *[16]uint64)
//
// Four messages at a time, with working vector Y0–Y15. When one more register is needed,
// the first of a third row is spilled to the result's memory.
TEXT ·hashAVX2(SB), NOSPLIT, $0-24
	MOVQ state+0(FP), DI
	MOVQ message+8(FP), SI
	MOVQ lengths+16(FP), DX
	MOVQ $4, CX

four:
	VPBROADCASTQ iv<>+64(SB), Y0
	VPBROADCASTQ iv<>+8(SB), Y1
	VPBROADCASTQ iv<>+16(SB), Y2
	VPBROADCASTQ iv<>+24(SB), Y3
	VPBROADCASTQ iv<>+32(SB), Y4
	VPBROADCASTQ iv<>+40(SB), Y5
	VPBROADCASTQ iv<>+48(SB), Y6
	VPBROADCASTQ iv<>+56(SB), Y7
	VPBROADCASTQ iv<>+0(SB), Y8
	VMOVDQA Y1, Y9
	VMOVDQA Y2, Y10
	VMOVDQA Y3, Y11
	VPXOR (DX), Y4, Y12          // the length
	VMOVDQA Y5, Y13
	VPCMPEQQ Y14, Y14, Y14
	VPXOR Y6, Y14, Y14           // inverted: this block is the last
	VMOVDQA Y7, Y15

#define ADDS(X, A, B, D) \
	VPADDQ (128*X)(SI), A, A; \
	VPADDQ B, A, A; \
	VPXOR A, D, D

#define BACK(B, C, D) \
	VPADDQ D, C, C; \
	VPXOR C, B, B

#define TURN63(B, T) \
	VPADDQ B, B, T; \
	VPSRLQ $63, B, B; \
	VPXOR T, B, B

// HALF mixes four columns, or four diagonals, with A as the first row.
#define HALF(A0, A1, A2, A3, B0, B1, B2, B3, C0, C1, C2, C3, D0, D1, D2, D3, X0, Y0, X1, Y1, X2, Y2, X3, Y3) \
	ADDS(X0, A0, B0, D0); \
	ADDS(X1, A1, B1, D1); \
	ADDS(X2, A2, B2, D2); \
	ADDS(X3, A3, B3, D3); \
	VPSHUFD $0xb1, D0, D0; \
	VPSHUFD $0xb1, D1, D1; \
	VPSHUFD $0xb1, D2, D2; \
	VPSHUFD $0xb1, D3, D3; \
	BACK(B0, C0, D0); \
	BACK(B1, C1, D1); \
	BACK(B2, C2, D2); \
	BACK(B3, C3, D3); \
	VPSHUFB turn24<>(SB), B0, B0; \
	VPSHUFB turn24<>(SB), B1, B1; \
	VPSHUFB turn24<>(SB), B2, B2; \
	VPSHUFB turn24<>(SB), B3, B3; \
	ADDS(Y0, A0, B0, D0); \
	ADDS(Y1, A1, B1, D1); \
	ADDS(Y2, A2, B2, D2); \
	ADDS(Y3, A3, B3, D3); \
	VPSHUFB turn16<>(SB), D0, D0; \
	VPSHUFB turn16<>(SB), D1, D1; \
	VPSHUFB turn16<>(SB), D2, D2; \
	VPSHUFB turn16<>(SB), D3, D3; \
	BACK(B0, C0, D0); \
	BACK(B1, C1, D1); \
	BACK(B2, C2, D2); \
	BACK(B3, C3, D3); \
	VMOVDQU C0, (DI); \
	TURN63(B0, C0); \
	TURN63(B1, C0); \
	TURN63(B2, C0); \
	TURN63(B3, C0); \
	VMOVDQU (DI), C0

#define ROUND4(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P) \
	HALF(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15, A, B, C, D, E, F, G, H); \
	HALF(Y0, Y1, Y2, Y3, Y5, Y6, Y7, Y4, Y10, Y11, Y8, Y9, Y15, Y12, Y13, Y14, I, J, K, L, M, N, O, P)

	ROUNDS(ROUND4)

#define OUT4(I, IV, A, B) \
	VPXOR B, A, A; \
	VPBROADCASTQ iv<>+IV(SB), B; \
	VPXOR B, A, A; \
	VMOVDQU A, (128*I)(DI)

	OUT4(0, 64, Y0, Y8)
	OUT4(1, 8, Y1, Y9)
	OUT4(2, 16, Y2, Y10)
	OUT4(3, 24, Y3, Y11)
	OUT4(4, 32, Y4, Y12)
	OUT4(5, 40, Y5, Y13)
	OUT4(6, 48, Y6, Y14)
	OUT4(7, 56, Y7, Y15)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  four
	VZEROUPPER
	RET
