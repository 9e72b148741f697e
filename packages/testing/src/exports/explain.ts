export { type Explanation, explainDelivery } from '../explain/explain-delivery.js'
export {
  type ExplainHeaders,
  type ExplainInput,
  type ExplainSecret,
  type HeaderPair,
  type NamedSecret,
  type ParsedRequest,
  type RequestForm,
  RequestUnreadableError,
} from '../explain/explain-input.js'
export type { ExplainFramework, Finding, FindingCode, FrameworkLine } from '../explain/finding.js'
export { type ParseRequestOptions, parseHeaders, parseRequest } from '../explain/parse-request.js'
export type { HeaderField, HeaderReport } from '../explain/signature-header.js'
