//! Reads the command stream and judges it: the second opinion.
