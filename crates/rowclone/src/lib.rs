//! Plans a copy: fast parallel, pipelined serial, or over the channel. No clock.
