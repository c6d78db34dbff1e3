//go:build amd64 && !purego

#include "textflag.h"

// The fast Hadamard transform of int16 entries with signs, in int32 sums.
//
// A transform is a step for each bit of the index, in any order: the step of a bit
// replaces the entries a and b whose indices differ only in it by a+b and a−b. The step
// of bit 0 comes with the signs, as PMADDWD adds pairs of products: once with both signs,
// once with the second one negated. A bit that selects between two registers costs an
// addition and a subtraction. Any other bit must first become such a bit: interleaving
// two registers moves the bit that selected between them into them, and one of theirs
// then selects. Bits of an index by what they select, highest first:
//
//   register | 128 bits | dword     made so far
//      0     |   4, 3   |  2, 1     0
//      2     |   4, 3   |  1, 0     0, 2
//      1     |   4, 3   |  0, 2     0, 2, 1
//      3     |   1, 4   |  0, 2     0, 2, 1, 3
//      4     |   3, 1   |  0, 2     all; without bit 4, AVX2 is done a line earlier
//
// So the sum of index c lies at c with its last three bits in the order 1, 0, 2.
// The higher bits select registers or memory locations from the start.
//
// Loops are aligned to cache lines: otherwise their alignment is accidental, which costs
// up to a quarter of the time of a small transform.

// Words of +1 and −1, alternating.
DATA turns<>+0(SB)/4, $0xffff0001
GLOBL turns<>(SB), RODATA|NOPTR, $4

// INTERLEAVED makes the step of the bit that interleaving A and B by LOW and HIGH
// brings forward. It overwrites T.
#define INTERLEAVED(LOW, HIGH, A, B, T) \
	LOW B, A, T; \
	HIGH B, A, B; \
	VPADDD B, T, A; \
	VPSUBD B, T, B

#define LANES2(OPCODE, A, B, T) \
	OPCODE $0x20, B, A, T; \
	OPCODE $0x31, B, A, B; \
	VPADDD B, T, A; \
	VPSUBD B, T, B

#define LANES4(A, B, T) \
	VSHUFI32X4 $0x88, B, A, T; \
	VSHUFI32X4 $0xdd, B, A, B; \
	VPADDD B, T, A; \
	VPSUBD B, T, B

// FOUR makes the two steps among A, B, C and D, and overwrites the others.
#define FOUR(A, B, C, D, E, F, G, H) \
	VPADDD B, A, E; \
	VPSUBD B, A, F; \
	VPADDD D, C, G; \
	VPSUBD D, C, H; \
	VPADDD G, E, A; \
	VPADDD H, F, B; \
	VPSUBD G, E, C; \
	VPSUBD H, F, D

// TWO makes the step between A and B, and leaves the sum in T.
#define TWO(A, B, T) \
	VPADDD B, A, T; \
	VPSUBD B, A, B

// func blocksAVX2(v *int64, x, signs *int16, blocks int)
//
// The first six steps: blocks of 64 entries, in four registers of 16. Y0–Y7 hold their
// sums, Y15 the alternating words.
TEXT ·blocksAVX2(SB), NOSPLIT, $0-32
	MOVQ v+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ signs+16(FP), DX
	MOVQ blocks+24(FP), CX
	VPBROADCASTD turns<>(SB), Y15

#define PAIRS2(OFF, A, B) \
	VMOVDQU OFF(DX), Y8; \
	VMOVDQU OFF(SI), Y9; \
	VPMULLW Y15, Y8, Y10; \
	VPMADDWD Y8, Y9, A; \
	VPMADDWD Y10, Y9, B; \
	INTERLEAVED(VPUNPCKLDQ, VPUNPCKHDQ, A, B, Y8); \
	INTERLEAVED(VPUNPCKLDQ, VPUNPCKHDQ, A, B, Y8); \
	LANES2(VPERM2I128, A, B, Y8)

	PCALIGN $64
block2:
	PAIRS2(0, Y0, Y1)
	PAIRS2(32, Y2, Y3)
	PAIRS2(64, Y4, Y5)
	PAIRS2(96, Y6, Y7)
	FOUR(Y0, Y2, Y4, Y6, Y8, Y9, Y10, Y11)
	FOUR(Y1, Y3, Y5, Y7, Y8, Y9, Y10, Y11)
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VMOVDQU Y4, 128(DI)
	VMOVDQU Y5, 160(DI)
	VMOVDQU Y6, 192(DI)
	VMOVDQU Y7, 224(DI)
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $256, DI
	DECQ CX
	JNZ  block2
	VZEROUPPER
	RET

// func blocksAVX512(v *int64, x, signs *int16, blocks int)
//
// The first seven steps: blocks of 128 entries, in four registers of 32.
TEXT ·blocksAVX512(SB), NOSPLIT, $0-32
	MOVQ v+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ signs+16(FP), DX
	MOVQ blocks+24(FP), CX
	VPBROADCASTD turns<>(SB), Z31

#define PAIRS4(OFF, A, B, T, U) \
	VMOVDQU64 OFF(DX), T; \
	VMOVDQU64 OFF(SI), U; \
	VPMADDWD T, U, A; \
	VPMULLW Z31, T, T; \
	VPMADDWD T, U, B; \
	INTERLEAVED(VPUNPCKLDQ, VPUNPCKHDQ, A, B, T); \
	INTERLEAVED(VPUNPCKLDQ, VPUNPCKHDQ, A, B, T); \
	LANES4(A, B, T); \
	LANES4(A, B, T)

	PCALIGN $64
block4:
	PAIRS4(0, Z0, Z1, Z8, Z9)
	PAIRS4(64, Z2, Z3, Z10, Z11)
	PAIRS4(128, Z4, Z5, Z12, Z13)
	PAIRS4(192, Z6, Z7, Z14, Z15)
	FOUR(Z0, Z2, Z4, Z6, Z8, Z9, Z10, Z11)
	FOUR(Z1, Z3, Z5, Z7, Z12, Z13, Z14, Z15)
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VMOVDQU64 Z4, 256(DI)
	VMOVDQU64 Z5, 320(DI)
	VMOVDQU64 Z6, 384(DI)
	VMOVDQU64 Z7, 448(DI)
	ADDQ $256, SI
	ADDQ $256, DX
	ADDQ $512, DI
	DECQ CX
	JNZ  block4
	VZEROUPPER
	RET

// EIGHT makes three steps of eight registers that are CX bytes apart: A to H are
// scratch for entries 0 to 7, S to V for sums. R8 is 2 and R9 3 such steps behind SI.
#define EIGHT(LOAD, A, B, C, D, E, F, G, H, S, T, U, V) \
	LOAD (SI), A; \
	LOAD (SI)(CX*1), B; \
	LOAD (R8), C; \
	LOAD (R9), D; \
	LOAD (SI)(CX*4), E; \
	LOAD (R9)(CX*2), F; \
	LOAD (R8)(CX*4), G; \
	LOAD (R9)(CX*4), H; \
	FOUR(A, B, C, D, S, T, U, V); \
	FOUR(E, F, G, H, S, T, U, V); \
	TWO(A, E, S); \
	TWO(B, F, T); \
	TWO(C, G, U); \
	TWO(D, H, V); \
	LOAD S, (SI); \
	LOAD T, (SI)(CX*1); \
	LOAD U, (R8); \
	LOAD V, (R9); \
	LOAD E, (SI)(CX*4); \
	LOAD F, (R9)(CX*2); \
	LOAD G, (R8)(CX*4); \
	LOAD H, (R9)(CX*4)

// func eightsAVX2(v *int64, h int)
//
// Three steps of 8h words of 64 bits: eight transforms become one.
TEXT ·eightsAVX2(SB), NOSPLIT, $0-16
	MOVQ v+0(FP), SI
	MOVQ h+8(FP), CX
	SHLQ $3, CX
	LEAQ (SI)(CX*2), R8
	LEAQ (R8)(CX*1), R9
	MOVQ CX, AX

	PCALIGN $64
eight2:
	EIGHT(VMOVDQU, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11)
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $32, AX
	JNZ  eight2
	VZEROUPPER
	RET

// func eightsAVX512(v *int64, h int)
TEXT ·eightsAVX512(SB), NOSPLIT, $0-16
	MOVQ v+0(FP), SI
	MOVQ h+8(FP), CX
	SHLQ $3, CX
	LEAQ (SI)(CX*2), R8
	LEAQ (R8)(CX*1), R9
	MOVQ CX, AX

	PCALIGN $64
eight4:
	EIGHT(VMOVDQU64, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11)
	ADDQ $64, SI
	ADDQ $64, R8
	ADDQ $64, R9
	SUBQ $64, AX
	JNZ  eight4
	VZEROUPPER
	RET

// func twosAVX2(v *int64, h int)
//
// One step of 2h words of 64 bits: two transforms become one.
TEXT ·twosAVX2(SB), NOSPLIT, $0-16
	MOVQ v+0(FP), SI
	MOVQ h+8(FP), CX
	SHLQ $3, CX
	MOVQ CX, AX

	PCALIGN $64
two2:
	VMOVDQU (SI), Y0
	VMOVDQU (SI)(CX*1), Y1
	TWO(Y0, Y1, Y2)
	VMOVDQU Y2, (SI)
	VMOVDQU Y1, (SI)(CX*1)
	ADDQ $32, SI
	SUBQ $32, AX
	JNZ  two2
	VZEROUPPER
	RET

// func gather(y, v *int64, places *int32, n int)
//
// y[i] becomes the int32 of v at places[i]; n is positive.
TEXT ·gather(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ v+8(FP), SI
	MOVQ places+16(FP), BX
	MOVQ n+24(FP), CX
	LEAQ (DI)(CX*8), DI
	LEAQ (BX)(CX*4), BX
	NEGQ CX

	PCALIGN $64
sum:
	MOVL (BX)(CX*4), AX
	MOVLQSX (SI)(AX*4), AX
	MOVQ AX, (DI)(CX*8)
	INCQ CX
	JNZ  sum
	RET
