export { type Explanation, explainDelivery } from '../explain/explain-delivery.js'
export type {
  ExplainHeaders,
  ExplainInput,
  ExplainSecret,
  HeaderPair,
  NamedSecret,
  ParsedRequest,
} from '../explain/explain-input.js'
export { type RequestForm, RequestUnreadableError } from '../explain/explain-input.js'
export type { ExplainFramework, Finding, FindingCode, FrameworkLine } from '../explain/finding.js'
export { type ParseRequestOptions, parseHeaders, parseRequest } from '../explain/parse-request.js'
export type { HeaderField, HeaderReport } from '../explain/signature-header.js'
