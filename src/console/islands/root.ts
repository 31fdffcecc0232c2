/** Path below which the server is reached, without a slash at the end: scripts are at `/assets/<version>/islands/` below it. */
export const root = new URL('../../..', import.meta.url).pathname.slice(0, -1)
