//! Turns results into what people look at.
