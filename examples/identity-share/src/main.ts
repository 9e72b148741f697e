import { createClient, isClientError } from '@payment-integration/client'
import { mintShareToken, ProviderError } from '@payment-integration/identity-sumsub'
import { describeResult } from './describe-result.js'
import { shareVerification } from './share-verification.js'

const { PAYMENTS_URL, INTEGRATION_ADDRESS, API_SECRET, SUMSUB_APP_TOKEN, SUMSUB_SECRET_KEY } = process.env
const { USED_TOKEN: usedToken, CORRECTED } = process.env
const { SUMSUB_URL: baseUrl, APPLICANT_ID: applicantId, SERVICE_CLIENT_ID: forClientId, USER_EMAIL } = process.env
if (!PAYMENTS_URL || !INTEGRATION_ADDRESS || !API_SECRET || !SUMSUB_APP_TOKEN || !SUMSUB_SECRET_KEY) {
  console.error('Set PAYMENTS_URL, INTEGRATION_ADDRESS, API_SECRET, SUMSUB_APP_TOKEN and SUMSUB_SECRET_KEY.')
  process.exit(2)
}
if (!applicantId || !forClientId || !USER_EMAIL) {
  console.error('Set APPLICANT_ID (your approved applicant), SERVICE_CLIENT_ID and USER_EMAIL.')
  process.exit(2)
}

const client = createClient({ baseUrl: PAYMENTS_URL, integrationAddress: INTEGRATION_ADDRESS, apiSecret: API_SECRET })
const provider = { baseUrl, appToken: SUMSUB_APP_TOKEN, secretKey: SUMSUB_SECRET_KEY }
try {
  const mint = () => mintShareToken({ ...provider, applicantId, forClientId })
  const choice = { usedToken: usedToken || null, isCorrected: CORRECTED === 'yes' }
  const shared = await shareVerification({ client, email: USER_EMAIL, mint, ...choice })
  console.log(describeResult(shared.result))
  if (shared.result.kind === 'rejected_before') console.error(shared.result.message)
  else if (shared.usedToken !== null) console.log(`To ask for the verdict, set USED_TOKEN=${shared.usedToken}`)
} catch (error) {
  // The provider's message has the reason of a rejected token; it is for you alone.
  if (isClientError(error) && error.code === 'ERR_SHARE_TOKEN_REJECTED') console.error(error.providerMessage)
  else if (isClientError(error) || error instanceof ProviderError) console.error(error.message)
  else throw error
  process.exitCode = 1
}
