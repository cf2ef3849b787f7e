//! Issues memory traffic to the controller.
