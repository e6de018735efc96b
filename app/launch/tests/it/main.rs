//! Launch scripts from outside: requests in, plans, scripts and problems out.

mod combinations;
mod refused;
