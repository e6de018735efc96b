//! The static site: guides in, pages out, as paths and bytes. Nothing here reads or writes a file.
//!
//! Every page is complete without a script: text, navigation, coloured code, and each recipe's example as a diff that
//! the engine computed during this build ([`figure`]). So a page can't show a port that differs from the engine's.
//! Links are relative, so the site can be hosted under any path; only the page for missing addresses needs to know its
//! own ([`Input::base`]). Links, anchors and images of the guides are checked ([`links`]), and a broken one fails the
//! build with the guide's line.
//!
//! [`build`] makes all pages, and [`single_file`] one page from a finished site; [`shell`] is their common frame, and
//! [`wrap_port`] adds it to the Port page. [`port_report`] makes a page of its own, about one port. All styles are in one file, `theme/portolan.css`.

#[cfg(test)]
#[macro_use]
extern crate pretty_assertions;

mod api_list;
mod badge;
mod check_page;
mod definition;
mod error;
mod example_figure;
mod examples;
mod figure;
mod filter;
mod guide_list;
mod guide_page;
mod home;
mod kit;
mod launch_page;
mod licence_list;
mod links;
mod manifest;
mod missing;
mod one_file;
mod pages;
mod parallel;
mod policy;
mod port_page;
mod port_report;
mod print_page;
mod recipe_list;
mod rose;
mod search;
mod service_worker;
mod shell;
mod source_list;
mod text_page;
mod theme;

pub use error::SiteError;
pub use kit::Kit;
pub use one_file::{Files, ONE_FILE, single_file};
pub use pages::{Input, LastChanges, build};
pub use port_page::{PortPage, wrap_port};
pub use port_report::{PortReport, port_report};
pub use service_worker::{SERVICE_WORKER, SiteFile, service_worker};
pub use shell::{Frame, shell};
