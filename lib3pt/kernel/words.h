/* The headers of all kernels in kernels.inc. */
#ifndef TPTI_KERNEL_WORDS_H
#define TPTI_KERNEL_WORDS_H

#include "kernel/adamw.h"
#include "kernel/attention.h"
#include "kernel/dots.h"
#include "kernel/gemm.h"
#include "kernel/norm.h"
#include "kernel/rope.h"
#include "kernel/rotate.h"
#include "kernel/softmax.h"
#include "kernel/sum.h"
#include "kernel/swiglu.h"

#endif
