/** The installed packages, imported. @module */
import * as client from '@payment-integration/client'
import * as contract from '@payment-integration/contract'
import * as identity from '@payment-integration/identity-sumsub'
import * as identityService from '@payment-integration/identity-sumsub/service'
import * as versionStore from '@payment-integration/version-store'
import * as conformance from '@payment-integration/version-store/conformance'
import * as webhook from '@payment-integration/webhook'
import * as core from '@payment-integration/webhook/core'
import * as fetchAdapter from '@payment-integration/webhook/fetch'
import * as nodeAdapter from '@payment-integration/webhook/node'
import * as signing from '@payment-integration/webhook/signing'
import * as webhookTesting from '@payment-integration/webhook/testing'
import * as workerAdapter from '@payment-integration/webhook/worker'

export const packages = {
  client,
  conformance,
  contract,
  core,
  fetchAdapter,
  identity,
  identityService,
  nodeAdapter,
  signing,
  versionStore,
  webhook,
  webhookTesting,
  workerAdapter,
}
