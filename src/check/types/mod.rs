//! Types: every expression in its scope, with what is known where it stands.
//!
//! [`cx`] types one expression after another in a place; [`flow_state`] is what is known there (what is not null, what
//! has a value). [`node`] goes through one node in the order in which it runs, [`flow_typing`] through a graph.
//!
//! Reading order: [`flow_state`], [`cx`]; [`args`], [`write`](mod@write), [`jump`], [`condition`] (what conditions say), [`constant`], `choice`, `written`, [`route`],
//! [`work`], [`subgraph`], [`skip`], which add to [`cx::Cx`];
//! [`node`], [`order`], [`trail`], [`flow_typing`], `lost`, [`report`]; [`tool`] and [`item`] for what stands outside graphs.

pub mod args;
mod choice;
pub mod condition;
pub mod constant;
pub mod cx;
pub mod flow_state;
pub mod flow_typing;
pub mod item;
pub mod jump;
mod lost;
pub mod node;
pub mod order;
mod permit;
pub mod report;
pub mod route;
pub mod skip;
pub mod subgraph;
pub mod tool;
pub mod trail;
mod unbounded_fan_out;
mod unread;
pub mod work;
pub mod write;
mod written;

pub use order::beside;
