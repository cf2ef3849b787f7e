//! Laws of a page as a whole.
