/** Maps paths to the operations of the provider. @module */
import {
  type AnnounceEvent,
  applicantJson,
  applicantNamed,
  applicantOf,
  decide,
  type ProviderState,
  type Rejection,
  reviewJson,
} from './applicants.js'
import type { ProviderClient } from './authenticate.js'
import { Refusal } from './authenticate.js'
import type { ProviderOperation } from './faults.js'
import { copy, mint, previewReuse, reuse } from './redeem.js'

export interface AuthenticRequest {
  readonly state: ProviderState
  readonly client: ProviderClient
  readonly query: URLSearchParams
  readonly body: Buffer
  /** The variable part of the path, decoded. */
  readonly subject: string
  readonly announce: AnnounceEvent
  readonly showsReview: boolean
}

interface Route {
  readonly methods: readonly string[]
  readonly path: RegExp
  readonly operation: ProviderOperation
  readonly answer: (request: AuthenticRequest) => Record<string, unknown>
}

const routes: readonly Route[] = [
  {
    methods: ['POST'],
    path: /^\/resources\/accessTokens\/(?:-\/)?shareToken$/,
    operation: 'mint',
    answer({ state, client, query, body }) {
      const fields = body.length === 0 ? null : parseObject(body)
      const { token, forClientId } = mint(state, client, (name) => fields?.[name] ?? query.get(name))
      return { token, forClientId }
    },
  },
  {
    methods: ['POST'],
    path: /^\/resources\/api\/reusableIdentity\/reuse$/,
    operation: 'reuse',
    answer: ({ state, client, query, announce, showsReview }) =>
      applicantJson(reuse(state, client, query, announce), state.now(), showsReview),
  },
  {
    methods: ['GET', 'POST'],
    path: /^\/resources\/api\/reusableIdentity\/reuse\/preview$/,
    operation: 'preview',
    answer: ({ state, client, query, showsReview }) =>
      applicantJson(previewReuse(state, client, query), state.now(), showsReview),
  },
  {
    methods: ['POST'],
    path: /^\/resources\/applicants\/-\/import$/,
    operation: 'import',
    answer: ({ state, client, query, announce, showsReview }) =>
      applicantJson(copy(state, client, query, announce), state.now(), showsReview),
  },
  {
    methods: ['GET'],
    path: /^\/resources\/applicants\/-;externalUserId=([^/;]*)\/one$/,
    operation: 'find',
    answer({ state, client, subject }) {
      const applicant = applicantNamed(state, client, subject)
      if (applicant === undefined) throw new Refusal(404, 'Applicant not found')
      return applicantJson(applicant, state.now())
    },
  },
  {
    methods: ['GET'],
    path: /^\/resources\/applicants\/([^/;]+)\/one$/,
    operation: 'applicant',
    answer: ({ state, client, subject }) => applicantJson(applicantOf(state, client, subject), state.now()),
  },
  {
    methods: ['GET'],
    path: /^\/resources\/applicants\/([^/;]+)\/status$/,
    operation: 'status',
    answer: ({ state, client, subject }) => reviewJson(applicantOf(state, client, subject), state.now()),
  },
  {
    methods: ['POST'],
    path: /^\/resources\/applicants\/([^/;]+)\/status\/testCompleted$/,
    operation: 'testCompleted',
    answer({ state, client, subject, body, announce }) {
      if (!client.appToken.startsWith('sbx:')) throw new Refusal(400, 'This method is only supported on sandbox env')
      decide(state, applicantOf(state, client, subject), readVerdict(body), announce)
      return { ok: 1 }
    },
  },
]

/** The route of a request with its subject; `isWrongMethod` when the path exists only with other methods. */
export function findRoute(
  method: string,
  path: string,
): { readonly route: Route; readonly subject: string; readonly isWrongMethod: boolean } | null {
  for (const route of routes) {
    const match = route.path.exec(path)
    if (match !== null)
      return { route, subject: decode(match[1] ?? ''), isWrongMethod: !route.methods.includes(method) }
  }
  return null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json }
  } catch {
    // Falls through to the common answer for a body that is not an object.
  }
  throw new Refusal(400, 'Malformed JSON')
}

function readVerdict(body: Buffer): Rejection | null {
  const { reviewAnswer, rejectLabels, reviewRejectType, moderationComment, clientComment } = parseObject(body)
  if (reviewAnswer === 'GREEN') return null
  if (reviewAnswer !== 'RED') throw new Refusal(400, "Invalid value of 'reviewAnswer'")
  return {
    labels: Array.isArray(rejectLabels) ? rejectLabels.map(String) : [],
    rejectType: reviewRejectType === 'FINAL' ? 'FINAL' : 'RETRY',
    ...(typeof moderationComment === 'string' ? { moderationComment } : {}),
    ...(typeof clientComment === 'string' ? { clientComment } : {}),
  }
}
