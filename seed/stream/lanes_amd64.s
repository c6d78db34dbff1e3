//go:build amd64 && !purego

#include "textflag.h"

// BLAKE2b-512 (RFC 7693) of eight messages of one block each: lane i of every
// register belongs to message i. Z0–Z15 are the working vector, Z16–Z31 the
// message words, which leaves no register to spare and needs none.

// The initial vector; word 0 of the state also takes the parameter block: digest
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

#define G(A, B, C, D, X, Y) \
	VPADDQ X, A, A; \
	VPADDQ B, A, A; \
	VPXORQ A, D, D; \
	VPRORQ $32, D, D; \
	VPADDQ D, C, C; \
	VPXORQ C, B, B; \
	VPRORQ $24, B, B; \
	VPADDQ Y, A, A; \
	VPADDQ B, A, A; \
	VPXORQ A, D, D; \
	VPRORQ $16, D, D; \
	VPADDQ D, C, C; \
	VPXORQ C, B, B; \
	VPRORQ $63, B, B

// ROUND takes the message words in the order of the round's permutation.
#define ROUND(A, B, C, D, E, F, H, I, J, K, L, M, N, O, P, Q) \
	G(Z0, Z4, Z8, Z12, A, B); \
	G(Z1, Z5, Z9, Z13, C, D); \
	G(Z2, Z6, Z10, Z14, E, F); \
	G(Z3, Z7, Z11, Z15, H, I); \
	G(Z0, Z5, Z10, Z15, J, K); \
	G(Z1, Z6, Z11, Z12, L, M); \
	G(Z2, Z7, Z8, Z13, N, O); \
	G(Z3, Z4, Z9, Z14, P, Q)

// func hashLanes(state *[8][8]uint64, message *[16][8]uint64, lengths *[8]uint64)
TEXT ·hashLanes(SB), NOSPLIT, $0-24
	MOVQ state+0(FP), DI
	MOVQ message+8(FP), SI
	MOVQ lengths+16(FP), DX

	VMOVDQU64 0(SI), Z16
	VMOVDQU64 64(SI), Z17
	VMOVDQU64 128(SI), Z18
	VMOVDQU64 192(SI), Z19
	VMOVDQU64 256(SI), Z20
	VMOVDQU64 320(SI), Z21
	VMOVDQU64 384(SI), Z22
	VMOVDQU64 448(SI), Z23
	VMOVDQU64 512(SI), Z24
	VMOVDQU64 576(SI), Z25
	VMOVDQU64 640(SI), Z26
	VMOVDQU64 704(SI), Z27
	VMOVDQU64 768(SI), Z28
	VMOVDQU64 832(SI), Z29
	VMOVDQU64 896(SI), Z30
	VMOVDQU64 960(SI), Z31

	VPBROADCASTQ iv<>+64(SB), Z0
	VPBROADCASTQ iv<>+8(SB), Z1
	VPBROADCASTQ iv<>+16(SB), Z2
	VPBROADCASTQ iv<>+24(SB), Z3
	VPBROADCASTQ iv<>+32(SB), Z4
	VPBROADCASTQ iv<>+40(SB), Z5
	VPBROADCASTQ iv<>+48(SB), Z6
	VPBROADCASTQ iv<>+56(SB), Z7
	VPBROADCASTQ iv<>+0(SB), Z8
	VMOVDQA64 Z1, Z9
	VMOVDQA64 Z2, Z10
	VMOVDQA64 Z3, Z11
	VPXORQ (DX), Z4, Z12         // the length
	VMOVDQA64 Z5, Z13
	VPTERNLOGQ $0x55, Z6, Z6, Z14 // inverted: this block is the last
	VMOVDQA64 Z7, Z15

	ROUND(Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	ROUND(Z30, Z26, Z20, Z24, Z25, Z31, Z29, Z22, Z17, Z28, Z16, Z18, Z27, Z23, Z21, Z19)
	ROUND(Z27, Z24, Z28, Z16, Z21, Z18, Z31, Z29, Z26, Z30, Z19, Z22, Z23, Z17, Z25, Z20)
	ROUND(Z23, Z25, Z19, Z17, Z29, Z28, Z27, Z30, Z18, Z22, Z21, Z26, Z20, Z16, Z31, Z24)
	ROUND(Z25, Z16, Z21, Z23, Z18, Z20, Z26, Z31, Z30, Z17, Z27, Z28, Z22, Z24, Z19, Z29)
	ROUND(Z18, Z28, Z22, Z26, Z16, Z27, Z24, Z19, Z20, Z29, Z23, Z21, Z31, Z30, Z17, Z25)
	ROUND(Z28, Z21, Z17, Z31, Z30, Z29, Z20, Z26, Z16, Z23, Z22, Z19, Z25, Z18, Z24, Z27)
	ROUND(Z29, Z27, Z23, Z30, Z28, Z17, Z19, Z25, Z21, Z16, Z31, Z20, Z24, Z22, Z18, Z26)
	ROUND(Z22, Z31, Z30, Z25, Z27, Z19, Z16, Z24, Z28, Z18, Z29, Z23, Z17, Z20, Z26, Z21)
	ROUND(Z26, Z18, Z24, Z20, Z23, Z22, Z17, Z21, Z31, Z27, Z25, Z30, Z19, Z28, Z29, Z16)
	ROUND(Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31)
	ROUND(Z30, Z26, Z20, Z24, Z25, Z31, Z29, Z22, Z17, Z28, Z16, Z18, Z27, Z23, Z21, Z19)

#define OUT(I, IV, V, W) \
	VPXORQ W, V, V; \
	VPBROADCASTQ iv<>+IV(SB), Z16; \
	VPXORQ Z16, V, V; \
	VMOVDQU64 V, (64*I)(DI)

	OUT(0, 64, Z0, Z8)
	OUT(1, 8, Z1, Z9)
	OUT(2, 16, Z2, Z10)
	OUT(3, 24, Z3, Z11)
	OUT(4, 32, Z4, Z12)
	OUT(5, 40, Z5, Z13)
	OUT(6, 48, Z6, Z14)
	OUT(7, 56, Z7, Z15)
	VZEROUPPER
	RET
