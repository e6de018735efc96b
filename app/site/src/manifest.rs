//! The web app manifest: it makes the site installable, and registers what it accepts from other apps.

use serde_json::json;

/// Name of the file, relative to the site's root.
pub(crate) const FILE: &str = "manifest.webmanifest";

/// The manifest's text. Addresses in it are relative to it, so that the site can be hosted under any path; only `id`
/// needs the site's address.
pub(crate) fn write(base: &str) -> String {
    let icon = |file: &str, sizes: &str, purpose: &str| json!({ "src": format!("icons/{file}"), "sizes": sizes, "type": "image/png", "purpose": purpose });
    let screenshot = |file: &str, sizes: &str, form: &str, label: &str| json!({ "src": format!("screenshots/{file}"), "sizes": sizes, "type": "image/png", "form_factor": form, "label": label });
    let manifest = json!({
        "id": base,
        "name": "Portolan: port training scripts",
        "short_name": "Portolan",
        "description": "Ports PyTorch training scripts to other accelerators, in your browser and without a network.",
        "lang": "en",
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": "#fffdf8",
        "theme_color": "#0b5568",
        "categories": ["developer", "education"],
        "icons": [
            icon("portolan-192.png", "192x192", "any"),
            icon("portolan-512.png", "512x512", "any"),
            icon("portolan-maskable-192.png", "192x192", "maskable"),
            icon("portolan-maskable-512.png", "512x512", "maskable"),
        ],
        "screenshots": [
            screenshot("port-wide.png", "1280x800", "wide", "A training script and its port side by side"),
            screenshot("home-wide.png", "1280x800", "wide", "The home page with a small port"),
            screenshot("guide-narrow.png", "390x844", "narrow", "A guide on a phone"),
        ],
        "shortcuts": [
            { "name": "Port a script", "url": "port/" },
            { "name": "Guides", "url": "guides/" },
        ],
        "file_handlers": [{
            "action": "port/",
            "accept": {
                "text/x-python": [".py"],
                "application/x-ipynb+json": [".ipynb"],
                "application/zip": [".zip"],
                "text/x-patch": [".patch"],
            },
        }],
        "launch_handler": { "client_mode": ["focus-existing", "auto"] },
        "share_target": {
            "action": "port/share",
            "method": "POST",
            "enctype": "multipart/form-data",
            "params": {
                "text": "text",
                "files": [{
                    "name": "files",
                    "accept": ["text/x-python", ".py", "application/zip", ".zip", "application/x-ipynb+json", ".ipynb"],
                }],
            },
        },
    });
    format!("{manifest:#}\n")
}
