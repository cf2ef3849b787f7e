//! Queues, schedules, refreshes, and owns the only event loop.
