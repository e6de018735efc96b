//! The static site: guides in, pages out, as paths and bytes. Nothing here reads or writes a file.
//!
//! Every page is whole without a script: text, navigation, code in colour, and each recipe's example as a difference that
//! the engine computed during this very build ([`figure`]). So a page can't show a port that the engine does not make.
//! Links are relative, which lets the site live under any path; only the page for missing addresses has to be told where
//! it is ([`Input::base`]). Links, anchors and images of the guides are checked ([`links`]), and one that leads nowhere
//! fails the build with the guide's line.
//!
//! [`build`] makes all pages, and [`single_file`] one page of a whole finished site; [`shell`] is the frame they share, and [`wrap_port`] puts it around the page that ports.
//! The look is one file, `theme/portolan.css`.

mod api_list;
mod badge;
mod check_page;
mod definition;
mod dotted_names;
mod error;
mod example_figure;
mod example_names;
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
pub use pages::{Input, LastChanges, Page, build};
pub use port_page::{PortPage, wrap_port};
pub use service_worker::{SERVICE_WORKER, SiteFile, service_worker};
pub use shell::{Frame, shell};
