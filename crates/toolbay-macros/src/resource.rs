//! `#[resource]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

use crate::{
    function::Function,
    options::{Setting, Settings},
    prompt::completions,
};

const OPTIONS: [&str; 4] = ["name", "title", "description", "mime_type"];
const OF_ARGUMENTS: [&str; 3] = ["name", "default", "complete"];

struct Options {
    uri: LitStr,
    settings: Settings,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let uri = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "begin with the URI: `#[resource(\"config://app\")]`"))?;
        let mut settings = Settings::default();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                settings.add(input.parse::<Setting>()?, &OPTIONS)?;
            }
        }
        Ok(Self { uri, settings })
    }
}

/// The names in the braces of a URI (RFC 6570), without what says how they are written. What is no template is told when
/// it is made.
fn holes(uri: &str) -> Vec<&str> {
    let expressions = uri.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(inner, _)| inner);
    let names = expressions.flat_map(|inner| inner.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(','));
    names.map(|name| name.split([':', '*']).next().unwrap_or(name)).collect()
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Options { uri, settings } = syn::parse2(options)?;
    let function = Function::read(item, &OF_ARGUMENTS)?;
    let name = settings.text("name")?.unwrap_or_else(|| function.name());
    let handler = function.handler()?;
    let text = uri.value();
    let (templated, holes) = (text.contains('{'), holes(&text));
    for field in function.fields() {
        let name = field.name()?.value();
        if !holes.contains(&name.as_str()) {
            let what = format!("the URI has no hole for `{name}`: write `{{{name}}}` into it");
            return Err(syn::Error::new(field.ident.span(), what));
        }
    }
    let (kind, maker) =
        if templated { (quote!(::toolbay::Template), "template") } else { (quote!(::toolbay::Resource), "resource") };
    let mut made = quote!(#kind::new(#uri, #name, #handler));
    let docs = LitStr::new(&function.docs(), Span::call_site());
    let description = settings.text("description")?.or_else(|| (!docs.value().is_empty()).then_some(docs));
    if let Some(description) = description {
        made.extend(quote!(.description(#description)));
    }
    for setting in ["title", "mime_type"] {
        if let Some(text) = settings.text(setting)? {
            let set = Ident::new(setting, text.span());
            made.extend(quote!(.#set(#text)));
        }
    }
    made.extend(completions(&function)?);
    function.with_maker(&kind, &Ident::new(maker, Span::call_site()), &made)
}
