export { createWorkerHandler, type WorkerContextLike, type WorkerHandler } from '../adapters/worker.js'
