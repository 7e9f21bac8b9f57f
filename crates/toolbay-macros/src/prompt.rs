//! `#[prompt]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, LitStr};

use crate::{function::Function, options::Settings};

const OPTIONS: [&str; 3] = ["name", "title", "description"];
const OF_ARGUMENTS: [&str; 3] = ["name", "default", "complete"];

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let settings = Settings::read(options, &OPTIONS)?;
    let function = Function::read(item, &OF_ARGUMENTS)?;
    let name = settings.text("name")?.unwrap_or_else(|| function.name());
    let docs = || LitStr::new(&function.docs(), Span::call_site());
    let description = settings.text("description")?.unwrap_or_else(docs);
    let handler = function.handler()?;
    let mut made = quote!(::toolbay::Prompt::new(#name, #description, #handler));
    if let Some(title) = settings.text("title")? {
        made.extend(quote!(.title(#title)));
    }
    made.extend(completions(&function)?);
    function.with_maker(&quote!(::toolbay::Prompt), &Ident::new("prompt", Span::call_site()), &made)
}

/// The calls that add completions of arguments.
pub(crate) fn completions(function: &Function) -> syn::Result<TokenStream> {
    let mut calls = TokenStream::new();
    for field in function.fields() {
        if let Some(complete) = field.settings.value("complete")? {
            let argument = field.name()?;
            calls.extend(quote!(.complete(#argument, #complete)));
        }
    }
    Ok(calls)
}
