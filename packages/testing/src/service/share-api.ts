/** Answers the share endpoint. Source: docs/interface.md 4.2, 7. @module */
import {
  kycUnavailableBody,
  type ShareRejectedBody,
  shareRequestSchema,
  shareResponseWriteSchema,
  sharingDisabledBody,
} from '@payment-integration/contract'
import { answer, refuse } from './answers.js'
import { contentTypeFlaw, readJson } from './read-json.js'
import type { VerificationState } from './verifications.js'

/** Answers a share: 404 while sharing is off, then 400 for content type and body, then by the rules of sharing. */
export async function shareVerification(state: VerificationState, caller: string, request: Request): Promise<Response> {
  if (!state.control.enabled) return answer(sharingDisabledBody, 404)
  const flaw = contentTypeFlaw(request)
  if (flaw !== null) return refuse(400, flaw)
  const body = shareRequestSchema.safeParse(await readJson(request))
  if (!body.success) {
    const [field] = body.error.issues[0]?.path ?? []
    if (field === 'email') return refuse(400, notAnEmail)
    return refuse(400, field === undefined ? 'Body must be a JSON object' : 'kycShareToken must be a non-empty string')
  }
  const shared = state.share(caller, body.data.email, body.data.kycShareToken)
  switch (shared.kind) {
    case 'answer':
      return answer(shareResponseWriteSchema.parse(shared.response))
    case 'no_address':
      return refuse(400, notAnEmail)
    case 'unavailable':
      return answer(kycUnavailableBody, 409)
    case 'rejected':
      return answer({ error: 'Share token was rejected', message: shared.message } satisfies ShareRejectedBody, 422)
  }
}

const notAnEmail = 'email must be a valid email address'
