import manifest from '../../package.json' with { type: 'json' }

/** The version of Ganglion that runs. */
export const packageVersion: string = manifest.version
