export { masterKey } from '../databases.js'
