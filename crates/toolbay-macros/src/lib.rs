//! The attributes of Toolbay. They only name things and call public functions: all they emit can be written by hand.
//!
//! Documented where they are exported: in the crate `toolbay`.

mod arg;
mod data;
mod function;
mod options;
mod prompt;
mod resource;
mod tool;

use proc_macro::TokenStream;

/// All it emits can be written by hand.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    answer(tool::expand(options.into(), item.into()))
}

/// All it emits can be written by hand.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    answer(prompt::expand(options.into(), item.into()))
}

/// All it emits can be written by hand.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    answer(resource::expand(options.into(), item.into()))
}

/// All it emits can be written by hand.
#[proc_macro_attribute]
pub fn data(options: TokenStream, item: TokenStream) -> TokenStream {
    answer(data::expand(options.into(), item.into()))
}

fn answer(expanded: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
