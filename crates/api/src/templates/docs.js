"use strict";

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  // Nobody else is asked whether the document is valid.
  validatorUrl: null,
});
