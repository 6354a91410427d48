//! The profiles that are built in.

use std::sync::OnceLock;

use super::Profile;

impl Profile {
    /// The built-in profile of a provider, by the name of its file: `stripe_v1`, `adyen`.
    ///
    /// Each file names the sources of its facts. What nobody says stays as for a provider of which
    /// nothing is known.
    ///
    /// ```
    /// use tower_outcome::Profile;
    ///
    /// assert!(Profile::named("stripe_v1").unwrap().honours_keys());
    /// assert!(Profile::named("nobody").is_none());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let at = FILES.binary_search_by_key(&name, |(name, _)| name).ok()?;
        let parsed = PARSED[at].get_or_init(|| Self::from_toml(FILES[at].1).ok());
        parsed.clone()
    }

    /// The names of all built-in profiles, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }
}

macro_rules! files {
    ($($name:literal)+) => {
        /// In order of their names.
        const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../profiles/", $name, ".toml"))),)+
        ];
    };
}

static PARSED: [OnceLock<Option<Profile>>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

files! {
    "adyen"
    "aws_bedrock_agent"
    "aws_dynamodb"
    "aws_ec2"
    "aws_ecs"
    "aws_lambda"
    "aws_s3"
    "aws_secretsmanager"
    "aws_sfn"
    "aws_sqs_fifo"
    "azure_repeatability"
    "banking_circle"
    "billit"
    "braintree"
    "brevo"
    "bvnk"
    "checkout_com"
    "cloudflare"
    "coinbase_cdp"
    "dwolla"
    "easypay"
    "emailit"
    "figment"
    "fireblocks"
    "github"
    "gocardless"
    "google_aip155"
    "http_conditional"
    "ietf_draft"
    "increase"
    "interchecks"
    "klarna"
    "kubernetes"
    "mercury"
    "method_fi"
    "modern_treasury"
    "mollie"
    "moov"
    "nium"
    "notion"
    "nylas"
    "open_banking_uk"
    "paypal"
    "payroc"
    "plaid"
    "postmark"
    "ppro"
    "primer"
    "qonto"
    "razorpay"
    "resend"
    "sendgrid"
    "shopify"
    "slack"
    "solidgate"
    "square"
    "standard_webhooks"
    "stripe_v1"
    "stripe_v2"
    "telnyx"
    "twilio"
    "whop"
    "wise"
    "zalando"
}
