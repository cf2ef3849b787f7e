//! Laws that hold for all allocators, and for whole kernels.

mod allocators;
mod events;
mod kernels;
mod lines;
mod shares;
