//! Properties of all allocators and of whole kernels.

mod allocators;
mod events;
mod fallbacks;
mod first_touches;
mod kernels;
mod lines;
mod names;
mod shares;
