//go:build amd64 && !purego

#include "textflag.h"

// AES-256 (FIPS 197) with AES instructions: a key schedule, and counter mode eight
// blocks at a time.

// func expandKey(schedule *[240]byte, key *byte)
//
// X0 and X2 hold the last two round keys. A round key is the one before the last,
// xored with its own words shifted by one, two and three places, and with the
// substituted last word of the last.
TEXT ·expandKey(SB), NOSPLIT, $0-16
	MOVQ schedule+0(FP), DI
	MOVQ key+8(FP), SI
	MOVOU (SI), X0
	MOVOU 16(SI), X2
	MOVOU X0, (DI)
	MOVOU X2, 16(DI)

#define NEXT(OUT, RCON, WORD, OLD, LAST) \
	AESKEYGENASSIST $RCON, LAST, X1; \
	PSHUFD $WORD, X1, X1; \
	MOVO OLD, X3; \
	PSLLDQ $4, X3; \
	PXOR X3, OLD; \
	MOVO OLD, X3; \
	PSLLDQ $8, X3; \
	PXOR X3, OLD; \
	PXOR X1, OLD; \
	MOVOU OLD, OUT(DI)

	NEXT(32, 1, 0xff, X0, X2)
	NEXT(48, 0, 0xaa, X2, X0)
	NEXT(64, 2, 0xff, X0, X2)
	NEXT(80, 0, 0xaa, X2, X0)
	NEXT(96, 4, 0xff, X0, X2)
	NEXT(112, 0, 0xaa, X2, X0)
	NEXT(128, 8, 0xff, X0, X2)
	NEXT(144, 0, 0xaa, X2, X0)
	NEXT(160, 16, 0xff, X0, X2)
	NEXT(176, 0, 0xaa, X2, X0)
	NEXT(192, 32, 0xff, X0, X2)
	NEXT(208, 0, 0xaa, X2, X0)
	NEXT(224, 64, 0xff, X0, X2)
	RET

// func counterGroups(dst *byte, schedule *[240]byte, first uint64, groups int)
//
// Writes groups × 8 blocks of keystream, beginning at block number first. A counter
// block is 8 zero bytes and the block's number, big-endian.
TEXT ·counterGroups(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ schedule+8(FP), SI
	MOVQ first+16(FP), AX
	MOVQ groups+24(FP), CX

#define COUNTER(X) \
	MOVQ AX, DX; \
	BSWAPQ DX; \
	MOVQ DX, X; \
	PSLLDQ $8, X; \
	PXOR X8, X; \
	INCQ AX

#define EIGHT(OP, OFF) \
	MOVOU OFF(SI), X8; \
	OP X8, X0; \
	OP X8, X1; \
	OP X8, X2; \
	OP X8, X3; \
	OP X8, X4; \
	OP X8, X5; \
	OP X8, X6; \
	OP X8, X7

group:
	MOVOU (SI), X8
	COUNTER(X0)
	COUNTER(X1)
	COUNTER(X2)
	COUNTER(X3)
	COUNTER(X4)
	COUNTER(X5)
	COUNTER(X6)
	COUNTER(X7)
	EIGHT(AESENC, 16)
	EIGHT(AESENC, 32)
	EIGHT(AESENC, 48)
	EIGHT(AESENC, 64)
	EIGHT(AESENC, 80)
	EIGHT(AESENC, 96)
	EIGHT(AESENC, 112)
	EIGHT(AESENC, 128)
	EIGHT(AESENC, 144)
	EIGHT(AESENC, 160)
	EIGHT(AESENC, 176)
	EIGHT(AESENC, 192)
	EIGHT(AESENC, 208)
	EIGHT(AESENCLAST, 224)
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	MOVOU X4, 64(DI)
	MOVOU X5, 80(DI)
	MOVOU X6, 96(DI)
	MOVOU X7, 112(DI)
	ADDQ $128, DI
	DECQ CX
	JNZ  group
	RET
