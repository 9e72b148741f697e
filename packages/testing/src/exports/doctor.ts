export { doctorFrameworks } from '../doctor/causes.js'
export { doctorHashPrefix } from '../doctor/probes/probe.js'
export {
  type DoctorFinding,
  type DoctorOptions,
  type DoctorProbe,
  type DoctorReport,
  doctorProbeNames,
} from '../doctor/report.js'
export { runDoctor } from '../doctor/run-doctor.js'
export { createSocketSender, type SocketAnswer } from '../doctor/send.js'
export type { DoctorFramework } from '../explain/finding.js'
