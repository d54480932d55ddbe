//! The innermost layer: texts and places in them, names, durations, secrets, sets.

mod credential;
mod duration;
mod foreign;
mod index;
mod name;
mod secret;
mod set;
mod source;
