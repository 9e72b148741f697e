/** The configuration variables in their groups. @module */
import { Empty, Facts, Shown } from '../view/parts.js'
import type { Load } from './page.js'

export const settingsPage: Load = async ({ settings = [] }) => {
  const groups = [...new Set(settings.map(({ section }) => section))]
  const body = (
    <>
      <h1>Settings</h1>
      {settings.length === 0 ? (
        <Empty title="No settings: pass those of readConfig to createConsole." />
      ) : (
        <p class="dim">
          The values this process started with. Defaults are dimmed, secrets are only counted, and URLs show their host.
        </p>
      )}
      {groups.map((group) => (
        <details class="group">
          <summary>
            <h2>{group}</h2>{' '}
            {settings.filter(({ section, isDefault }) => section === group && !isDefault).length || 'none'} set
          </summary>
          <Facts
            kind="wide settings"
            rows={settings
              .filter(({ section }) => section === group)
              .map(({ name, value, isDefault, defaultValue, doc }) => [
                name,
                <>
                  <span class={isDefault ? 'dim' : 'given'}>
                    <Shown text={value} max={400} />
                  </span>
                  <small>{isDefault || !defaultValue ? doc : `${doc} By default ${defaultValue}.`}</small>
                </>,
              ])}
          />
        </details>
      ))}
    </>
  )
  return { title: 'Settings', section: '/settings', body }
}
