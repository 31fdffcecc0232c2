import { join } from 'node:path'

/**
 * What makes git see objects that wait in a folder to be let into a repository beside those that it holds, as receive-pack does
 * for its hooks. Without a folder: nothing.
 */
export function quarantineEnvironment(gitDir: string, quarantine: string | undefined): NodeJS.ProcessEnv {
  if (quarantine === undefined) return {}
  return {
    GIT_OBJECT_DIRECTORY: quarantine,
    // Quoted, since colons divide the list.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(gitDir, 'objects').replace(/["\\]/g, '\\$&')}"`,
  }
}
