// The URL of a path of the service, such as /documents. The service may be below a path of its host; scripts are in a folder below that.
const serviceUrl = (path) => new URL(`..${path}`, import.meta.url).href;

