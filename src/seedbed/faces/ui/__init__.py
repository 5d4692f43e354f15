"""The web page: what domain experts see. Every page asks the platform's use cases as the person who looks."""
