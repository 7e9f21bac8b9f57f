//! The function under an attribute, taken apart, and what is put together from it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ItemFn, Lit, LitStr, Meta, ext::IdentExt as _};

use crate::arg::{Arg, Field, Taken};

/// A function that becomes a handler.
pub(crate) struct Function {
    pub(crate) item: ItemFn,
    args: Vec<Arg>,
}

impl Function {
    /// Takes the function apart; `known` are the options of its arguments.
    pub(crate) fn read(item: TokenStream, known: &[&str]) -> syn::Result<Self> {
        let mut item: ItemFn = syn::parse2(item)
            .map_err(|error| syn::Error::new(error.span(), "this attribute stands on an async function"))?;
        let signature = &mut item.sig;
        if signature.asyncness.is_none() {
            let what = "make it an `async fn`; work that blocks goes into `tokio::task::spawn_blocking`";
            return Err(syn::Error::new(signature.fn_token.span, what));
        }
        if !signature.generics.params.is_empty() {
            let what = "a handler has no type parameters: its arguments have one schema";
            return Err(syn::Error::new_spanned(&signature.generics, what));
        }
        let args: syn::Result<Vec<Arg>> =
            signature.inputs.iter_mut().map(|argument| Arg::read(argument, known)).collect();
        let args = args?;
        let count = |wanted: fn(&Arg) -> bool| args.iter().filter(|arg| wanted(arg)).count();
        for (kind, found) in
            [("State", count(|arg| matches!(arg, Arg::State(_)))), ("Ctx", count(|arg| matches!(arg, Arg::Context(_))))]
        {
            if found > 1 {
                return Err(syn::Error::new_spanned(&item.sig.inputs, format!("`{kind}` can be taken once")));
            }
        }
        Ok(Self { item, args })
    }

    /// Its name, as a text.
    pub(crate) fn name(&self) -> LitStr {
        LitStr::new(&self.item.sig.ident.unraw().to_string(), self.item.sig.ident.span())
    }

    /// Its docs.
    pub(crate) fn docs(&self) -> String {
        docs(&self.item.attrs)
    }

    /// The members of its schema.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Field(field) => Some(&**field),
            Arg::State(_) | Arg::Context(_) => None,
        })
    }

    /// The struct of its arguments with the defaults of these; nothing where it has none.
    pub(crate) fn arguments(&self) -> syn::Result<TokenStream> {
        let mut members = Vec::new();
        let mut defaults = Vec::new();
        for field in self.fields() {
            let (member, default) = field.member()?;
            members.push(member);
            defaults.extend(default);
        }
        if members.is_empty() {
            return Ok(TokenStream::new());
        }
        Ok(quote! {
            #[derive(::toolbay::serde::Deserialize, ::toolbay::schemars::JsonSchema)]
            #[serde(crate = "::toolbay::serde")]
            #[schemars(crate = "::toolbay::schemars")]
            struct __Args {
                #(#members,)*
            }

            #(#defaults)*
        })
    }

    /// The handler: a closure that calls the function.
    pub(crate) fn handler(&self) -> syn::Result<TokenStream> {
        let name = &self.item.sig.ident;
        let has_fields = self.fields().next().is_some();
        let args = has_fields.then(|| quote!(__args: __Args)).into_iter();
        let state = self.state().map(|state| quote!(__state: ::toolbay::State<#state>)).into_iter();
        let context = self.args.iter().any(|arg| matches!(arg, Arg::Context(_)));
        let context = context.then(|| quote!(__cx: ::toolbay::Ctx)).into_iter();
        let passed = self.args.iter().map(|arg| match arg {
            Arg::Field(field) => {
                let ident = &field.ident;
                quote!(__args.#ident)
            }
            Arg::State(_) => quote!(__state),
            Arg::Context(Taken::Whole) => quote!(__cx),
            Arg::Context(Taken::Lent) => quote!(&__cx),
        });
        let mut checks = Vec::new();
        for field in self.fields() {
            checks.extend(field.check()?);
        }
        let call = quote!(#name(#(#passed),*).await);
        let body = if checks.is_empty() { call } else { quote!(#(#checks)* ::toolbay::ok(#call)) };
        let taken = args.chain(state).chain(context);
        Ok(quote!(|#(#taken),*| async move { #body }))
    }

    /// The type of the state it takes.
    pub(crate) fn state(&self) -> Option<&syn::Type> {
        self.args.iter().find_map(|arg| match arg {
            Arg::State(kind) => Some(&**kind),
            Arg::Field(_) | Arg::Context(_) => None,
        })
    }

    /// The function, and beside it a type of the same name that makes a `kind` of it by `made`, under `maker`: a type, for
    /// unlike a module it sees what the function sees, wherever both stand.
    pub(crate) fn with_maker(
        &self,
        kind: &TokenStream,
        maker: &syn::Ident,
        made: &TokenStream,
    ) -> syn::Result<TokenStream> {
        let Self { item, .. } = self;
        let (visibility, name, arguments) = (&item.vis, &item.sig.ident, self.arguments()?);
        let (generics, state) = match self.state() {
            Some(state) => (TokenStream::new(), quote!(#state)),
            None => (quote!(<S: Send + Sync + 'static>), quote!(S)),
        };
        let quiet = quote! {
            #[allow(non_camel_case_types, missing_docs, missing_debug_implementations, missing_copy_implementations)]
            #[allow(unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
        };
        Ok(quote! {
            #item

            #[doc(hidden)]
            #quiet
            #visibility enum #name {}

            #[doc(hidden)]
            #quiet
            impl #name {
                pub fn #maker #generics() -> #kind<#state> {
                    #arguments

                    #made
                }
            }
        })
    }
}

/// Docs as a text, without the blank that follows the slashes.
pub(crate) fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
        let line = text.value();
        Some(line.strip_prefix(' ').map_or(line.clone(), str::to_owned).trim_end().to_owned())
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
