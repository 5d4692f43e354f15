"""Depthwise convolutions with their bias and ReLU6 in one pass over the images, for GPUs.

Every channel is convolved by itself, so that there is little to compute and much to move, and an activation by itself
moves it all once more. Our kernels, in Triton, read a row once per column of the weights and keep what it adds to the
results above and below it; bias and ReLU6 are done in registers, and nothing is written that the next layer does not
want. Backwards, where ReLU6 let gradients through is seen in its result, so that nothing else is kept for it.

`walk` has stride 1, `halve` stride 2, `reads` what both read with, and `operator` makes an operator of torch of them,
which has gradients and can be compiled and recorded. Only `operator` is imported where Triton may be absent.
"""
