//! Conversations in slices are turns.
