//! What stands in the brackets of an attribute: words, and words with values.

use proc_macro2::{Span, TokenStream};
use syn::{
    Expr, Ident, LitStr, Token,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

/// One option.
pub(crate) struct Setting {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { name, value })
    }
}

/// Options, each once.
#[derive(Default)]
pub(crate) struct Settings(Vec<Setting>);

impl Settings {
    /// Reads options separated by commas; any but those in `known` is refused.
    pub(crate) fn read(tokens: TokenStream, known: &[&str]) -> syn::Result<Self> {
        let read = Punctuated::<Setting, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut settings = Self::default();
        for setting in read {
            settings.add(setting, known)?;
        }
        Ok(settings)
    }

    /// Adds one more.
    pub(crate) fn add(&mut self, setting: Setting, known: &[&str]) -> syn::Result<()> {
        let name = setting.name.to_string();
        if !known.contains(&name.as_str()) {
            let what = format!("unknown option `{name}`; there are: {}", known.join(", "));
            return Err(syn::Error::new(setting.name.span(), what));
        }
        if self.0.iter().any(|seen| seen.name == name) {
            return Err(syn::Error::new(setting.name.span(), format!("`{name}` stands here twice")));
        }
        self.0.push(setting);
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.name == name)
    }

    /// The value of an option.
    pub(crate) fn value(&self, name: &str) -> syn::Result<Option<&Expr>> {
        let Some(setting) = self.get(name) else { return Ok(None) };
        let missing = || syn::Error::new(setting.name.span(), format!("write `{name} = …`"));
        setting.value.as_ref().map(Some).ok_or_else(missing)
    }

    /// The value of an option that must be a text.
    pub(crate) fn text(&self, name: &str) -> syn::Result<Option<LitStr>> {
        match self.value(name)? {
            None => Ok(None),
            Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => Ok(Some(text.clone())),
            Some(other) => Err(syn::Error::new_spanned(other, format!("write `{name} = \"…\"`"))),
        }
    }

    /// Whether a word stands there, without a value.
    pub(crate) fn word(&self, name: &str) -> syn::Result<Option<Span>> {
        match self.get(name) {
            None => Ok(None),
            Some(Setting { value: Some(value), .. }) => {
                Err(syn::Error::new_spanned(value, format!("`{name}` takes no value")))
            }
            Some(setting) => Ok(Some(setting.name.span())),
        }
    }
}
