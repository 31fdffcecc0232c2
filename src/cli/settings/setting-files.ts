import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { EnvironmentError } from './environment.ts'

const ofFiles =
  /^(?:(GANGLION_\w+)|(AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS))_FILE$/
const maxLength = 64 * 1024

/**
 * Adds the settings of a file of settings that the environment lacks, and for each `<NAME>_FILE` the content of that file as `<NAME>`. Thus
 * all readers of variables support files.
 * @param config path of the file of settings
 * @throws {EnvironmentError}
 */
export function addSettingsOfFiles(env: NodeJS.ProcessEnv, config = env.GANGLION_CONFIG || undefined): void {
  const problems: string[] = []
  const read = (what: string, path: string): string => {
    try {
      const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
      if (text === '' || text.length > maxLength)
        problems.push(`${what}: ${path} must hold 1 to ${maxLength} characters`)
      return text
    } catch (error) {
      problems.push(`${what}: ${path} cannot be read: ${error instanceof Error ? error.message : error}`)
      return ''
    }
  }
  for (const [name, value] of Object.entries(config === undefined ? {} : parseEnv(read('GANGLION_CONFIG', config)))) {
    if (/^(GANGLION|AWS|OTEL)_/.test(name)) env[name] ||= value
    else problems.push(`${config}: ${name} is not a setting`)
  }
  for (const [name, path = ''] of Object.entries(env)) {
    const [, own, foreign] = ofFiles.exec(name) ?? []
    const setting = own ?? foreign
    if (setting === undefined || path === '') continue
    if (env[setting]) problems.push(`${setting} and ${name} are both set`)
    env[setting] = read(name, path)
    delete env[name]
  }
  if (problems.length > 0) throw new EnvironmentError(problems)
}
