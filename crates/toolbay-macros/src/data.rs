//! `#[data]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        return Err(syn::Error::new_spanned(options, "`#[data]` takes no options"));
    }
    let item: Item = syn::parse2(item)?;
    if !matches!(item, Item::Struct(_) | Item::Enum(_)) {
        return Err(syn::Error::new_spanned(item, "`#[data]` stands on a struct or an enum"));
    }
    Ok(quote! {
        #[derive(::toolbay::serde::Serialize, ::toolbay::serde::Deserialize, ::toolbay::schemars::JsonSchema)]
        #[serde(crate = "::toolbay::serde")]
        #[schemars(crate = "::toolbay::schemars")]
        #item
    })
}
