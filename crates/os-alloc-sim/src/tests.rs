//! Laws that hold for all allocators, and for whole kernels.

mod allocators;
mod events;
mod fallbacks;
mod first_touches;
mod kernels;
mod lines;
mod shares;
