//! Types: every expression in its scope, with what is known where it stands.
//!
//! [`cx`] types one expression after another in a place; [`facts`] is what is known there (what is not null, what
//! has a value). [`node`] goes through one node in the order in which it runs, [`walk`] through a graph.
//!
//! Reading order: [`facts`], [`cx`]; [`args`], [`write`](mod@write), [`jump`], [`cases`] and [`range`] (what conditions say), [`constant`], `choice`, `written`, [`route`] with `coverage`, [`work`], [`subgraph`], [`skip`], which add to [`cx::Cx`];
//! [`node`], [`order`], [`company`], [`says`], `added`, `guards`, `known`, `explored`, `relevant`, [`paths`], `lockstep` and `run_told` (ways that no run takes), [`trail`], [`walk`], [`tell`], `unclear`; [`tool`] and [`item`] for what stands outside graphs.

mod added;
pub mod args;
mod behind_way;
pub mod cases;
mod choice;
pub mod company;
pub mod constant;
mod coverage;
pub mod cx;
mod explored;
pub mod facts;
mod guards;
pub mod item;
pub mod jump;
mod known;
mod lockstep;
pub mod node;
pub mod order;
pub mod paths;
mod permit;
pub mod range;
mod relevant;
pub mod route;
mod run_told;
pub mod says;
pub mod skip;
pub mod subgraph;
pub mod tell;
pub mod tool;
pub mod trail;
mod unclear;
mod unread;
pub mod walk;
pub mod work;
pub mod write;
mod written;

pub use order::beside;
