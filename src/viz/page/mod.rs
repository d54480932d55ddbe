//! A page that stands for itself: the picture to move about in, and what is known of each node.

pub mod about;
pub mod facts;

use crate::ir::Flow;

use super::picture::{Legend, Picture};
use super::svg::xml::{escaped, px};
use super::svg::{self, TooLarge};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The text of an HTML file. It names no other file and no address.
///
/// # Errors
/// [`TooLarge`].
pub fn write(flow: &Flow, picture: &Picture, legend: &Legend) -> Result<String, TooLarge> {
    let drawn = svg::draw(picture, legend)?;
    let (w, h) = (px(drawn.w), px(drawn.h));
    let title = escaped(&svg::title(picture));
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{graph}{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n<div class=\"tools\" role=\"toolbar\" aria-label=\"Picture\">\n\
         <button type=\"button\" data-do=\"in\" title=\"Larger (+)\">+</button>\n\
         <button type=\"button\" data-do=\"out\" title=\"Smaller (-)\">−</button>\n\
         <button type=\"button\" data-do=\"fit\" title=\"All of it (0)\">fit</button>\n\
         <button type=\"button\" data-do=\"theme\" title=\"Light or dark\">theme</button>\n</div>\n</header>\n\
         <main id=\"view\" tabindex=\"-1\">\n<svg class=\"graph\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         role=\"group\" aria-label=\"{title}\">\n{inside}</svg>\n</main>\n\
         <aside id=\"about\" aria-live=\"polite\" hidden>\n\
         <button type=\"button\" data-do=\"close\" title=\"Close (Escape)\">×</button>\n{about}</aside>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        graph = svg::style(),
        inside = drawn.inside,
        about = about::all(flow, picture),
    ))
}
