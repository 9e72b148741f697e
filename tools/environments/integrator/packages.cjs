/** The installed packages, required. */
exports.packages = {
  client: require('@payment-integration/client'),
  contract: require('@payment-integration/contract'),
  identity: require('@payment-integration/identity-sumsub'),
  identityService: require('@payment-integration/identity-sumsub/service'),
  core: require('@payment-integration/webhook/core'),
  fetchAdapter: require('@payment-integration/webhook/fetch'),
  nodeAdapter: require('@payment-integration/webhook/node'),
  signing: require('@payment-integration/webhook/signing'),
  versionStore: require('@payment-integration/version-store'),
  webhook: require('@payment-integration/webhook'),
  webhookTesting: require('@payment-integration/webhook/testing'),
}
