export { createWorkerHandler, type WorkerHandler } from '../adapters/worker.js'
