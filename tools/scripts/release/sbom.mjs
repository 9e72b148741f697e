/** Writes the bill of materials: CycloneDX 1.6 as JSON. @module */
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'

/**
 * @param {ReadonlyMap<string, import('./dependencies.mjs').Dependency>} dependencies
 * @param {{ name: string, version: string }} release - The released packages together.
 * @returns {string} The same text for the same dependencies: it holds no time and no random number.
 */
export function buildBillOfMaterials(dependencies, { name, version }) {
  const bom = new Models.Bom()
  const component = (type, of) =>
    new Models.Component(type, of.name, {
      version: of.version,
      bomRef: `${of.name}@${of.version}`,
      purl: `pkg:npm/${of.name.replace('@', '%40')}@${of.version}`,
    })
  bom.metadata.component = new Models.Component(Enums.ComponentType.Framework, name, { version, bomRef: name })
  const components = new Map()
  for (const [key, dependency] of dependencies) {
    const entry = component(Enums.ComponentType.Library, dependency)
    entry.licenses.add(new Models.LicenseExpression(dependency.license))
    components.set(key, entry)
    bom.components.add(entry)
    if (dependency.name.startsWith('@payment-integration/')) bom.metadata.component.dependencies.add(entry.bomRef)
  }
  for (const [key, { needs }] of dependencies)
    for (const needed of needs) components.get(key).dependencies.add(components.get(needed).bomRef)
  const normalizer = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  return `${new Serialize.JsonSerializer(normalizer).serialize(bom, { sortLists: true, space: 2 })}\n`
}
