//go:build amd64 && !purego

#include "textflag.h"

// func dot4x2AVX2(w0, w1 *byte, x0, x1, x2, x3 *float32, n int, sums *[8]float32)
//
// Y0 to Y3 sum up w0 times x0 to x3, Y4 to Y7 the same for w1, each in eight
// lanes. A step widens eight int8 weights of both rows to float32 (Y8, Y9) and
// uses them for four vectors. AX counts numbers: bytes in w, four bytes in x.
TEXT ·dot4x2AVX2(SB), NOSPLIT, $0-64
	MOVQ w0+0(FP), SI
	MOVQ w1+8(FP), DI
	MOVQ x0+16(FP), R8
	MOVQ x1+24(FP), R9
	MOVQ x2+32(FP), R10
	MOVQ x3+40(FP), R11
	MOVQ n+48(FP), CX
	MOVQ sums+56(FP), DX
	XORQ AX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

loop:
	VPMOVSXBD (SI)(AX*1), Y8
	VPMOVSXBD (DI)(AX*1), Y9
	VCVTDQ2PS Y8, Y8
	VCVTDQ2PS Y9, Y9
	VMOVUPS (R8)(AX*4), Y10
	VMOVUPS (R9)(AX*4), Y11
	VMOVUPS (R10)(AX*4), Y12
	VMOVUPS (R11)(AX*4), Y13
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y4
	VFMADD231PS Y8, Y11, Y1
	VFMADD231PS Y9, Y11, Y5
	VFMADD231PS Y8, Y12, Y2
	VFMADD231PS Y9, Y12, Y6
	VFMADD231PS Y8, Y13, Y3
	VFMADD231PS Y9, Y13, Y7
	ADDQ $8, AX
	CMPQ AX, CX
	JLT  loop

	// Add up the lanes: three pairwise additions leave the four sums of a
	// row in each half of a register, and the halves are added last.
	VHADDPS Y1, Y0, Y0
	VHADDPS Y3, Y2, Y2
	VHADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VMOVUPS X0, (DX)
	VHADDPS Y5, Y4, Y4
	VHADDPS Y7, Y6, Y6
	VHADDPS Y6, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VADDPS X5, X4, X4
	VMOVUPS X4, 16(DX)
	VZEROUPPER
	RET
